"""TensorBoard's files of events, read by their definitions: TFRecords, and the fields of Event and Summary."""

import struct


def crc32c(data):
    """Bit by bit: the remainder by Castagnoli's polynomial, bits reflected."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    while data:
        size, checksum = struct.unpack("<QI", data[:12])
        assert checksum == masked(data[:8])
        payload, data = data[12:12 + size], data[12 + size:]
        assert len(payload) == size and struct.unpack("<I", data[:4]) == (masked(payload),)
        data = data[4:]
        yield payload


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """(number, value) of each field of a message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = {1: lambda: (8, at), 2: lambda: varint(data, at), 5: lambda: (4, at)}[key & 7]()
            value, at = data[at:at + size], at + size
            assert len(value) == size
        yield key >> 3, value


def read(path):
    """[(step, {tag: value})]; the first event says the version."""
    first, *events = [dict(fields(event)) for event in records(path.read_bytes())]
    assert first[3] == b"brain.Event:2" and struct.unpack("<d", first[1])[0] > 1e9
    found = []
    for event in events:
        assert set(event) == {1, 2, 5}
        scalars = [dict(fields(value)) for number, value in fields(event[5]) if number == 1]
        found.append((event[2], {one[1].decode(): struct.unpack("<f", one[2])[0] for one in scalars}))
    return found
