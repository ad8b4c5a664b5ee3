"""Ranks of mlc.Trainer that are threads of a test."""

import threading

import mlc


def on_threads(count, work):
    """The results of work(rank) of all ranks."""
    ranks, found = mlc.Ranks.threads(count), [None] * count

    def run(i):
        try:
            found[i] = work(ranks[i])
            ranks[i].finish()
        except BaseException as failure:
            found[i] = failure

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one in found:
        if isinstance(one, BaseException):
            raise one
    return found
