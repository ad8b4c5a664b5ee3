"""Statements about elements, one line each: truths, and near misses of each that do not hold.

A line is `types: before = after`, in index notation for element i of f32 vectors, unless `types` says otherwise:
`x f16, y i8 -> i8` has operands of these types and a result of the last. Each truth stands by a name; what is false
stands below the truth that it misses, whose proof must not be accepted for it either. With `arith` in front, elements
are of operations of that dialect, in linalg.
"""

import ast

TRUTHS = {
    # Numbers of types
    "byte_as_float_and_back": "x i8 -> i8: i8(f32(x[i])) = x[i]",
    "byte_as_half_and_back": "x i8 -> i8: i8(f16(x[i])) = x[i]",
    "byte_as_bfloat_and_back": "x i8 -> i8: i8(bf16(x[i])) = x[i]",
    "word_as_double_and_back": "x i32 -> i32: i32(f64(x[i])) = x[i]",
    "byte_through_word": "x ui8 -> f32: f32(i32(x[i])) = f32(x[i])",
    "byte_through_long": "x ui8 -> ui32: ui32(i64(x[i])) = ui32(x[i])",
    "minus_one_without_sign": "-> ui64: ui64(ui32(i8(-1))) = 4294967295",
    "negative_through_bytes": "-> i32: i32(i8(ui8(200))) = -56",
    "wrapped_word": "-> i64: i64(i32(i64(2147483648))) = -2147483648",
    "byte_without_sign": "-> i32: i32(ui8(200)) = 200",
    "rounded_as_bfloat": "-> f32: f32(bf16(i32(257))) = 256",
    "rounded_as_float": "-> f64: f64(f32(i32(16777217))) = 16777216",
    "cut_off": "-> f32: f32(i32(f32(-0.5))) = 0",
    "index_as_float_and_back": "-> f32: f32(index(f32(i))) = f32(i)",
    "byte_of_index": "-> f32: select(ui8(i + 256) == ui8(i), f32(1), f32(0)) = f32(1)",
    # Digits and residues
    "xor_of_itself": "arith x i32: xori(x, x) = 0",
    "and_of_itself": "arith x i32: andi(x, x) = x",
    "or_with_nothing": "arith x i8: ori(0, x) = x",
    "all_digits": "arith x i32: andi(x, -1) = x",
    "xor_with_all_digits": "arith x i8: xori(x, -1) = subi(-1, x)",
    "low_byte": "arith x i32: extui_i32(trunci_i8(x)) = andi(x, 255)",
    "high_digits": "arith x i32: shli(shrui(x, 4), 4) = andi(x, -16)",
    "mask_as_rest": "arith x i32: andi(x, 7) = remui(x, 8)",
    "and_commutes": "arith x i32, y i32: andi(x, y) = andi(y, x)",
    "signed_by_minus_one": "arith x i32: divsi(x, -1) = subi(0, x)",
    "square_of_magnitude": "x i8 -> i8: abs(x[i]) * abs(x[i]) = x[i] * x[i]",
    "divided_by_minus_one": "x i32 -> i32: x[i] / (0 * x[i] - 1) = -x[i]",
    "none_below_zero": "x ui8 -> ui8: select(x[i] < 0, -x[i], x[i]) = x[i]",
    "none_above_largest": "x i8 -> i8: select(i8(127) < x[i], -x[i], x[i]) = x[i]",
    "largest_of_nothing": "x i32 -> i32: max{r < 0}(x[i]) = x[i] * 0 - 2147483647 - 1",
    "least_of_nothing": "x ui8 -> ui8: min{r < 0}(x[i]) = x[i] * 0 - 1",
    # Functions of reals
    "logarithms_add": "x, y: log(x[i]) + log(y[i]) = log(x[i] * y[i])",
    "roots_multiply": "x, y: sqrt(x[i]) * sqrt(y[i]) = sqrt(x[i] * y[i])",
    "sine_and_cosine": "x: sin(x[i]) * sin(x[i]) + cos(x[i]) * cos(x[i]) = 0 * x[i] + 1",
    "cosine_is_bounded": "x: max(cos(x[i]) + 1, 0) = cos(x[i]) + 1",
    "powers_add": "x: pow(abs(x[i]) + 1, 1.25) * pow(abs(x[i]) + 1, 1.25) = pow(abs(x[i]) + 1, 2.5)",
    "logarithm_of_choice": "x: select(x[i] > 0, log(x[i]), 0) = log(select(x[i] > 0, x[i], 1))",
    "product_by_itself": "x positive: f32(1) + 0 * x[i] = prod{r < n}(x[r]) / prod{r < n}(x[r])",
    "root_where_positive": "x: select(x[i] > 0, sqrt(x[i]) * sqrt(x[i]), 0) = max(x[i], 0)",
    # Order
    "exp_of_larger": "x: exp(max(x[i], 0)) = max(exp(x[i]), 1)",
    "exp_of_largest": "x: exp(max{r < n}(x[r])) = max{r < n}(exp(x[r]))",
    "exp_of_least": "x: exp(min{r < n}(x[r])) = min{r < n}(exp(x[r]))",
    "floor_of_larger": "x, y: floor(max(x[i], y[i])) = max(floor(x[i]), floor(y[i]))",
    "root_of_larger": "x non-negative, y non-negative: sqrt(max(x[i], y[i])) = max(sqrt(x[i]), sqrt(y[i]))",
    "three_roots": "x: pow(x[i], 1.5) = x[i] * sqrt(x[i])",
    "sixth_power": "x: pow(x[i], 6) = pow(x[i], 3) * pow(x[i], 3)",
    "inverse_power": "x: pow(x[i], -2) = 1 / (x[i] * x[i])",
    "square_in_halves": "x: sum{r < n, q < n}(x[r] * x[q]) = 2 * sum{r < n, q < n}(select(q < r, x[r] * x[q], 0)) + sum{r < n}(x[r] * x[r])",
    "shares_of_one": "x: x[i] - log(sum{r < n}(exp(x[r]))) = log(exp(x[i]) / sum{r < n}(exp(x[r])))",
    "larger_below": "x, y: select(max(x[i], 0) < y[i], x[i], y[i]) = select(and(x[i] < y[i], 0 < y[i]), x[i], y[i])",
    "below_infinity": "x: select(x[i] < inf, x[i], 0) = x[i]",
    "inverses_of_sums": "x: 1 / (1 + exp(x[i])) / (1 + exp(x[i])) = 1 / ((1 + exp(x[i])) * (1 + exp(x[i])))",
    "largest_magnitude": "x: max{r < n}(abs(x[r])) = max(max{r < n}(x[r]), -min{r < n}(x[r]))",
    "order_of_exps": "x, y: select(exp(x[i]) < exp(y[i]), x[i], y[i]) = select(x[i] < y[i], x[i], y[i])",
    "equal_exps": "x, y: select(exp(x[i]) == exp(y[i]), x[i], 0) = select(y[i] == x[i], x[i], 0)",
    "order_of_doubles": "x, y: select(2 * x[i] < 2 * y[i], x[i], y[i]) = select(x[i] < y[i], x[i], y[i])",
    "order_of_negatives": "x, y: select(-x[i] < -y[i], x[i], y[i]) = select(y[i] < x[i], x[i], y[i])",
}

FALSEHOODS = {
    "byte_as_float_and_back": [
        "x i16 -> i16: i16(f16(x[i])) = x[i]", "x i32 -> i32: i32(f32(x[i])) = x[i]",
        "x ui8 -> i8: i8(x[i]) = i8(f32(x[i]))", "x i8 -> ui8: ui8(x[i]) = ui8(f32(x[i]))",
        "x i16 -> i8: i8(x[i]) = i8(f32(x[i]))", "x i8 -> i16: i16(ui8(x[i])) = i16(x[i])"],
    "byte_as_half_and_back": [
        "x i16 -> i16: i16(bf16(x[i])) = x[i]", "x i32 -> i32: i32(f16(x[i])) = x[i]",
        "x ui16 -> ui16: ui16(f16(x[i])) = x[i]", "x: f32(f16(x[i])) = x[i]", "x: f32(bf16(x[i])) = x[i]",
        "x f16 -> f16: f16(bf16(x[i])) = x[i]", "x bf16 -> bf16: bf16(f16(x[i])) = x[i]"],
    "byte_as_bfloat_and_back": [
        "x i16 -> f32: f32(bf16(x[i])) = f32(x[i])", "x i32 -> f64: f64(f32(x[i])) = f64(x[i])",
        "x i64 -> i64: i64(f64(x[i])) = x[i]", "x ui64 -> ui64: ui64(f64(x[i])) = x[i]"],
    "byte_through_word": [
        "x i8 -> f32: f32(ui8(x[i])) = f32(x[i])", "x i32 -> f32: f32(i16(x[i])) = f32(x[i])",
        "x i8 -> f32: f32(ui32(x[i])) = f32(x[i])", "x ui32 -> f64: f64(i32(x[i])) = f64(x[i])"],
    "byte_through_long": [
        "x ui8 -> ui32: ui32(i8(x[i])) = ui32(x[i])", "x i8 -> i32: i32(ui8(x[i])) = i32(x[i])",
        "x i32 -> i64: i64(ui32(x[i])) = i64(x[i])"],
    "minus_one_without_sign": [
        "-> ui64: ui64(ui32(i8(-1))) = -1", "-> ui64: ui64(i8(-1)) = 4294967295", "-> ui64: ui64(ui32(ui8(255))) = -1",
        "-> i64: i64(ui32(i8(-1))) = -1"],
    "negative_through_bytes": [
        "-> i32: i32(i8(ui8(200))) = 200", "-> i32: i32(i8(ui8(128))) = 128", "-> i32: i32(ui8(i8(-56))) = -56",
        "-> f32: f32(i8(ui8(255))) = 255"],
    "wrapped_word": ["-> i64: i64(i32(i64(2147483648))) = 2147483648", "-> i64: i64(ui32(i64(2147483648))) = -2147483648"],
    "byte_without_sign": ["-> i32: i32(i8(200)) = 200", "-> i32: i32(ui8(300)) = 300"],
    "rounded_as_bfloat": [
        "-> f32: f32(bf16(i32(257))) = 257", "-> f64: f64(f16(i64(70000))) = 70000", "-> f64: f64(bf16(i64(511))) = 511",
        "-> f32: f32(f16(i32(100000))) = 100000", "-> f32: f32(f16(i64(4097))) = 4097",
        "-> f32: f32(bf16(i32(258))) = 256", "-> f32: f32(bf16(i32(259))) = 258", "-> f32: f32(f16(i32(65520))) = 65504",
        "-> f32: f32(f16(i32(2049))) - f32(f16(i32(2048))) = 1"],
    "rounded_as_float": [
        "-> f64: f64(f32(i32(16777217))) = 16777217", "-> f64: f64(f32(i32(16777219))) = 16777219",
        "-> f64: f64(f32(f64(0.1))) = 0.1", "-> f64: f64(f16(f64(2049))) = 2049"],
    "cut_off": [
        "-> f32: f32(i32(f32(-0.5))) = -1", "-> f32: f32(i32(f32(1.5))) = 2", "-> f32: f32(i32(f32(-1.5))) = -2",
        "-> f32: 0 * f32(i) = 0 * f32(i8(f32(300)))"],
    "index_as_float_and_back": [
        "x: f32(index(x[i])) = x[i]", "-> f32: f32(index(f32(i) / 2)) = f32(i) / 2",
        "-> f32: f32(index(f16(i))) = f32(i)", "-> f32: f32(i32(f16(i))) = f32(i)"],
    "byte_of_index": [
        "-> f32: select(ui8(i + 128) == ui8(i), f32(1), f32(0)) = f32(1)",
        "-> f32: select(ui16(i + 256) == ui16(i), f32(1), f32(0)) = f32(1)",
        "-> f32: select(ui8(i) == ui8(n), f32(1), f32(0)) = f32(0)",
        "-> f32: select(ui8(i) < ui8(i + 1), f32(1), f32(0)) = f32(1)"],
    "xor_of_itself": [
        "arith x i32: xori(x, x) = x", "arith x i32, y i32: xori(x, y) = 0", "arith x i32: xori(x, addi(x, 1)) = 1",
        "arith x i32: xori(x, subi(0, x)) = 0", "arith x i32: xori(x, xori(x, x)) = 0"],
    "and_of_itself": [
        "arith x i32: andi(x, x) = 0", "arith x i32, y i32: andi(x, y) = x", "arith x i32: andi(x, addi(x, 1)) = x",
        "arith x i32: ori(x, addi(x, x)) = x", "arith x i32: andi(x, subi(0, x)) = x"],
    "or_with_nothing": ["arith x i8: ori(x, 1) = x", "arith x i8: andi(x, 0) = x", "arith x i8: ori(x, -1) = x",
                        "arith x i8: xori(x, 1) = x"],
    "all_digits": ["arith x i32: andi(x, 255) = x", "arith x i8: andi(x, -2) = x", "arith x i32: andi(x, 2147483647) = x",
                   "arith x i32: andi(x, 1) = x", "arith x i32: andi(x, -1) = andi(x, 65535)"],
    "xor_with_all_digits": ["arith x i8: xori(x, -1) = subi(0, x)", "arith x i8: xori(x, 127) = subi(-1, x)",
                            "arith x i8: xori(x, 1) = addi(x, 1)", "arith x i8: xori(x, -1) = subi(-2, x)"],
    "low_byte": [
        "arith x i32: extsi_i32(trunci_i8(x)) = andi(x, 255)", "arith x i32: extui_i32(trunci_i8(x)) = andi(x, 127)",
        "arith x i32: extui_i32(trunci_i16(x)) = andi(x, 255)", "arith x i32: extui_i32(trunci_i8(x)) = andi(x, 254)",
        "arith x i32: extui_i32(trunci_i8(x)) = x", "arith x i32: subi(x, extui_i32(trunci_i8(x))) = andi(x, 256)",
        "arith x i32: extui_i32(trunci_i8(x)) = andi(x, 511)"],
    "high_digits": [
        "arith x i32: shli(shrui(x, 4), 4) = x", "arith x i32: shli(shrui(x, 4), 3) = andi(x, -8)",
        "arith x i32: shli(shrui(x, 4), 4) = andi(x, -8)", "arith x i32: shrui(shli(x, 4), 4) = x",
        "arith x i32: shrui(x, 4) = shrsi(x, 4)", "arith x i32: shli(shrui(x, 4), 4) = andi(x, -15)"],
    "mask_as_rest": [
        "arith x i32: andi(x, 7) = remsi(x, 8)", "arith x i32: andi(x, 8) = remui(x, 8)", "arith x i32: andi(x, 6) = remui(x, 7)",
        "arith x i32: muli(divui(x, 8), 8) = x", "arith x i32: muli(divui(x, 8), 4) = divui(x, 2)",
        "arith x i8: muli(divui(x, 64), 4) = 0", "arith x i32: andi(x, 15) = remui(x, 8)",
        "arith x i32: muli(divsi(x, 8), 8) = subi(x, andi(x, 7))"],
    "and_commutes": ["arith x i32, y i32: andi(x, y) = ori(y, x)", "arith x i32, y i32: divui(x, y) = divui(y, x)",
                     "arith x i32, y i32: xori(x, y) = subi(x, y)", "arith x i32, y i32: subi(x, y) = subi(y, x)"],
    "signed_by_minus_one": [
        "arith x i32: divsi(x, -2) = subi(0, x)", "arith x i32: divui(x, -1) = subi(0, x)", "arith x i32: divsi(x, -1) = x",
        "arith x i32, y i32: divsi(x, y) = subi(0, x)", "arith x i32: subi(0, x) = divsi(x, -1)"],
    "square_of_magnitude": [
        "x i8 -> i8: abs(x[i]) = x[i]", "x i8 -> i8: abs(x[i]) * abs(x[i]) * abs(x[i]) = x[i] * x[i] * x[i]",
        "x i8, y i8 -> i8: abs(x[i]) * abs(y[i]) = x[i] * y[i]", "x i8 -> f32: f32(abs(x[i])) * f32(abs(x[i])) = f32(x[i] * x[i])",
        "x i8 -> i32: i32(abs(x[i])) * i32(abs(x[i])) = i32(x[i]) * i32(abs(x[i]))",
        "x i8 -> i32: i32(abs(x[i])) * i32(abs(x[i])) + 0 * i32(x[i]) = i32(x[i] * x[i])"],
    "divided_by_minus_one": [
        "x i32 -> i32: x[i] / (0 * x[i] - 2) = -x[i]", "x ui32 -> ui32: x[i] / ui32(4294967295) = -x[i]",
        "x i32 -> i32: x[i] / (0 * x[i] - 1) = x[i]", "x i32, y i32 -> i32: x[i] / y[i] = -x[i]"],
    "none_below_zero": [
        "x i8 -> i8: select(x[i] < 0, -x[i], x[i]) = x[i]", "x ui8 -> ui8: select(x[i] < 1, -x[i] - 1, x[i]) = x[i]",
        "x ui8 -> ui8: select(0 < x[i], x[i], 1) = x[i]", "x ui8, y ui8 -> ui8: select(x[i] < y[i], y[i], x[i]) = x[i]"],
    "none_above_largest": [
        "x i8 -> i8: select(i8(126) < x[i], -x[i], x[i]) = x[i]", "x ui8 -> ui8: select(ui8(127) < x[i], -x[i], x[i]) = x[i]",
        "x i16 -> i16: select(i16(127) < x[i], -x[i], x[i]) = x[i]", "x i8 -> i8: select(x[i] < i8(127), -x[i], x[i]) = x[i]"],
    "largest_of_nothing": [
        "x i32 -> i32: max{r < 0}(x[i]) = x[i] * 0", "x i32 -> i32: max{r < 1}(x[i]) = x[i] * 0 - 2147483647 - 1",
        "x ui32 -> ui32: max{r < 0}(x[i]) = x[i] * 0 - 2147483647 - 1", "x i32 -> i32: max{r < n - 1}(x[i]) = x[i] * 0 - 2147483647 - 1",
        "x i32 -> i32: prod{r < 0}(x[i]) = x[i] * 0"],
    "least_of_nothing": [
        "x ui8 -> ui8: min{r < 0}(x[i]) = x[i] * 0", "x i8 -> i8: min{r < 0}(x[i]) = x[i] * 0 - 1",
        "x ui8 -> ui8: max{r < 0}(x[i]) = x[i] * 0 - 1"],
    "logarithms_add": [
        "x, y: log(x[i] * y[i]) = log(x[i]) + log(y[i])", "x, y: log(x[i]) + log(y[i]) = log(x[i] + y[i])",
        "x: log(x[i] * x[i]) = 2 * log(x[i])", "x, y: log(x[i]) - log(y[i]) = log(x[i] * y[i])",
        "x: 2 * log(x[i]) = log(2 * x[i])", "x: log(-x[i] * -x[i]) = 2 * log(-x[i])"],
    "roots_multiply": [
        "x, y: sqrt(x[i] * y[i]) = sqrt(x[i]) * sqrt(y[i])", "x: sqrt(x[i] * x[i]) = x[i]",
        "x: sqrt(x[i] * x[i]) = sqrt(x[i]) * sqrt(x[i])", "x, y: sqrt(x[i]) * sqrt(y[i]) = sqrt(x[i] + y[i])",
        "x, y non-negative: sqrt(x[i] * y[i]) = sqrt(x[i]) * sqrt(y[i])"],
    "sine_and_cosine": [
        "x: sin(x[i]) * sin(x[i]) - cos(x[i]) * cos(x[i]) = 0 * x[i] + 1", "x: sin(x[i]) * sin(x[i]) = 0 * x[i] + 1",
        "x, y: sin(x[i]) * sin(x[i]) + cos(y[i]) * cos(y[i]) = 0 * x[i] + 1", "x: sin(x[i]) + cos(x[i]) = 0 * x[i] + 1",
        "x, y: sin(x[i]) * sin(y[i]) + cos(x[i]) * cos(y[i]) = 0 * x[i] + 1",
        "x: tanh(x[i]) * tanh(x[i]) + cos(x[i]) * cos(x[i]) = 0 * x[i] + 1"],
    "cosine_is_bounded": [
        "x: max(cos(x[i]) + 0.5, 0) = cos(x[i]) + 0.5", "x: max(2 * cos(x[i]) + 1, 0) = 2 * cos(x[i]) + 1",
        "x: max(cos(x[i]), 0) = cos(x[i])", "x: max(exp(x[i]) - 1, 0) = exp(x[i]) - 1",
        "x: max(tanh(x[i]) - 1, 0) = 0 * x[i] + 0.1"],
    "powers_add": [
        "x: pow(abs(x[i]) + 1, 1.25) * pow(abs(x[i]) + 1, 1.25) = pow(abs(x[i]) + 1, 1.5625)",
        "x: pow(abs(x[i]) + 1, 1.25) * pow(abs(x[i]) + 2, 1.25) = pow(abs(x[i]) + 1, 2.5)",
        "x: pow(abs(x[i]) + 1, 1.25) + pow(abs(x[i]) + 1, 1.25) = pow(abs(x[i]) + 1, 2.5)",
        "x: pow(x[i] * x[i] + 1, 1.5) = pow(x[i] * x[i], 1.5) + 1"],
    "logarithm_of_choice": [
        "x: select(x[i] > 0, log(x[i]), 1) = log(select(x[i] > 0, x[i], 1))",
        "x: select(x[i] > 0, log(x[i]), 0) = log(x[i])", "x: select(x[i] > 0, log(x[i]), 0) = log(select(x[i] > 1, x[i], 1))",
        "x: select(x[i] > 0, log(x[i]), 0) = log(abs(x[i]))",
        "x: select(x[i] > 0, log(x[i]), 0) = log(select(x[i] > 0, x[i], 0))",
        "x: select(x[i] > 0, log(x[i]), 0) = log(max(x[i], 1))"],
    "product_by_itself": [
        "x: f32(1) + 0 * x[i] = prod{r < n}(x[r]) / prod{r < n}(x[r])",
        "x non-negative: f32(1) + 0 * x[i] = prod{r < n}(x[r]) / prod{r < n}(x[r])",
        "x positive: f32(1) + 0 * x[i] = prod{r < n}(x[r] - 1) / prod{r < n}(x[r] - 1)",
        "x positive: f32(1) + 0 * x[i] = sum{r < n}(x[r]) / prod{r < n}(x[r])"],
    "root_where_positive": [
        "x: max(x[i], 0) = select(x[i] > -1, sqrt(x[i]) * sqrt(x[i]), 0)", "x: sqrt(x[i]) * sqrt(x[i]) = max(x[i], 1)",
        "x: max(x[i], 0) = sqrt(x[i]) * sqrt(x[i])", "x: select(x[i] > 0, 0, x[i]) = select(x[i] > 0, 0, sqrt(x[i]) * sqrt(x[i]))"],
    "exp_of_larger": [
        "x: exp(max(x[i], 0)) = max(exp(x[i]), 0)", "x: exp(max(x[i], 1)) = max(exp(x[i]), 1)",
        "x: exp(-max(x[i], 0)) = max(exp(-x[i]), 1)", "x: cos(max(x[i], 0)) = max(cos(x[i]), 1)",
        "x: exp(max(x[i], 0)) = min(exp(x[i]), 1)", "x, y: exp(max(x[i], y[i])) = exp(x[i]) + exp(y[i])"],
    "exp_of_largest": [
        "x: exp(max{r < n}(x[r])) = min{r < n}(exp(x[r]))", "x: exp(-max{r < n}(x[r])) = max{r < n}(exp(-x[r]))",
        "x: abs(max{r < n}(x[r])) = max{r < n}(abs(x[r]))", "x: max{r < n}(exp(x[r] - x[i])) = exp(max{r < n}(x[r]))",
        "x: exp(max{r < n - 1}(x[r])) = max{r < n - 1}(exp(x[r]))", "x: exp(sum{r < n}(x[r])) = sum{r < n}(exp(x[r]))"],
    "exp_of_least": ["x: exp(min{r < n}(x[r])) = max{r < n}(exp(x[r]))", "x: sin(min{r < n}(x[r])) = min{r < n}(sin(x[r]))",
                     "x: exp(min{r < n}(-x[r])) = min{r < n}(exp(x[r]))"],
    "floor_of_larger": ["x, y: floor(max(x[i], y[i])) = max(floor(x[i]), ceil(y[i]))",
                        "x, y: floor(x[i] + y[i]) = floor(x[i]) + floor(y[i])", "x, y: floor(max(x[i], y[i])) = max(floor(x[i]), y[i])",
                        "x: max(floor(x[i]), 0.5) = floor(max(x[i], 0.5))"],
    "root_of_larger": [
        "x, y: sqrt(max(x[i], y[i])) = max(sqrt(x[i]), sqrt(y[i]))", "x: sqrt(max(x[i], 0)) = max(sqrt(x[i]), 0)",
        "x, y: log(max(x[i], y[i])) = max(log(x[i]), log(y[i]))", "x, y: max(sqrt(x[i]), log(y[i])) = sqrt(max(x[i], y[i]))"],
    "three_roots": ["x: pow(x[i], 1.5) = x[i] * x[i]", "x: x[i] * sqrt(x[i] * x[i]) = pow(x[i], 1.5)", "x: pow(x[i], 1.5) = sqrt(x[i])",
                    "x: x[i] * x[i] = pow(x[i], 1.5) * pow(x[i], 0.5)", "x: x[i] = pow(x[i], 0.5) * pow(x[i], 0.5)"],
    "sixth_power": ["x: pow(x[i], 6) = pow(x[i], 3) * pow(x[i], 2)", "x: pow(x[i], 5) = pow(abs(x[i]), 5)",
                    "x: pow(x[i], 7) = pow(x[i], 6)", "x: pow(x[i], 2.5) = pow(x[i], 2)", "x: pow(x[i], 12) = pow(-x[i], 11) * x[i]"],
    "inverse_power": ["x: x[i] * x[i] * pow(x[i], -2) = pow(x[i], -1)", "x: f32(1) + 0 * x[i] = pow(x[i], -1) * x[i]",
                      "x: 0 * x[i] = pow(x[i], -0.5) * 0", "x: sqrt(x[i]) = x[i] * pow(x[i], -0.5)", "x: pow(x[i], -3) = pow(abs(x[i]), -3)"],
    "square_in_halves": [
        "x: sum{r < n, q < n}(x[r] * x[q]) = 2 * sum{r < n, q < n}(select(q < r, x[r] * x[q], 0))",
        "x: sum{r < n, q < n}(x[r] * x[q]) = 2 * sum{r < n, q < n}(select(q <= r, x[r] * x[q], 0)) + sum{r < n}(x[r] * x[r])",
        "x: sum{r < n, q < n}(x[r] * x[q]) = sum{r < n, q < n}(select(q < r, x[r] * x[q], 0)) + sum{r < n}(x[r] * x[r])",
        "x, y: sum{r < n, q < n}(x[r] * y[q]) = 2 * sum{r < n, q < n}(select(q < r, x[r] * y[q], 0)) + sum{r < n}(x[r] * y[r])",
        "x: sum{r < n, q < n}(x[r] * x[q]) = sum{r < n}(x[r] * x[r])"],
    "shares_of_one": [
        "x: x[i] - log(sum{r < n}(x[r])) = log(exp(x[i]) * sum{r < n}(x[r]))", "x: x[i] - sum{r < n}(exp(x[r])) = log(exp(x[i]) / sum{r < n}(exp(x[r])))",
        "x: log(x[i]) - log(sum{r < n}(x[r])) = log(exp(x[i]) / sum{r < n}(x[r]))", "x: x[i] - log(sum{r < n}(exp(x[r]))) = log(x[i] / sum{r < n}(exp(x[r])))"],
    "larger_below": [
        "x, y: select(max(x[i], 0) < y[i], x[i], y[i]) = select(or(x[i] < y[i], 0 < y[i]), x[i], y[i])",
        "x, y: select(min(x[i], 0) < y[i], x[i], y[i]) = select(and(x[i] < y[i], 0 < y[i]), x[i], y[i])",
        "x, y: select(y[i] < max(x[i], 0), x[i], y[i]) = select(and(y[i] < x[i], y[i] < 0), x[i], y[i])",
        "x, y: select(max(x[i], 0) < y[i], x[i], y[i]) = select(x[i] < y[i], x[i], y[i])"],
    "below_infinity": ["x: select(inf < x[i], x[i], 0) = x[i]", "x: select(x[i] < -inf, x[i], 0) = x[i]",
                       "x: select(max{r < n - 1}(x[r]) > -inf, x[i], 0) = x[i]", "x: select(inf < inf, x[i], 0) = x[i]",
                       "x: select(x[i] == inf, x[i], 0) = x[i]"],
    "inverses_of_sums": [
        "x: 1 / (1 + exp(x[i])) / (1 + exp(x[i])) = 1 / (1 + exp(2 * x[i]))", "x: 1 / (1 + exp(x[i])) + 1 / (1 + exp(x[i])) = 1 / ((1 + exp(x[i])) * (1 + exp(x[i])))",
        "x, y: 1 / (x[i] + y[i]) / (x[i] - y[i]) = 1 / (x[i] * x[i] + y[i] * y[i])", "x: f32(1) + 0 * x[i] = (1 + x[i]) / (1 + x[i])"],
    "largest_magnitude": [
        "x: max{r < n}(abs(x[r])) = max{r < n}(x[r])", "x: max{r < n}(abs(x[r])) = max(max{r < n}(x[r]), min{r < n}(x[r]))",
        "x: min{r < n}(abs(x[r])) = min(min{r < n}(x[r]), -max{r < n}(x[r]))", "x: max{r < n}(abs(x[r])) = abs(max{r < n}(x[r]))"],
    "order_of_exps": [
        "x, y: select(exp(x[i]) < exp(y[i]), x[i], y[i]) = select(y[i] < x[i], x[i], y[i])",
        "x, y: select(cos(x[i]) < cos(y[i]), x[i], y[i]) = select(x[i] < y[i], x[i], y[i])",
        "x, y: select(floor(x[i]) < floor(y[i]), x[i], y[i]) = select(x[i] < y[i], x[i], y[i])",
        "x, y: select(exp(x[i]) < tanh(y[i]), x[i], y[i]) = select(x[i] < y[i], x[i], y[i])",
        "x, y: select(x[i] < y[i], x[i], y[i]) = select(sqrt(x[i]) < sqrt(y[i]), x[i], y[i])",
        "x, y: select(exp(x[i]) < 2 * exp(y[i]), x[i], y[i]) = select(x[i] < y[i], x[i], y[i])"],
    "equal_exps": [
        "x, y: select(abs(x[i]) == abs(y[i]), x[i], 0) = select(y[i] == x[i], x[i], 0)",
        "x, y: select(floor(x[i]) == floor(y[i]), x[i], 0) = select(y[i] == x[i], x[i], 0)",
        "x, y: select(exp(x[i]) == -exp(y[i]), x[i], 0) = select(y[i] == x[i], x[i], 0)",
        "x i8, y i8 -> i8: select(abs(x[i]) == abs(y[i]), x[i], 0) = select(x[i] == y[i], x[i], 0)"],
    "order_of_doubles": [
        "x, y: select(2 * x[i] < 3 * y[i], x[i], y[i]) = select(x[i] < y[i], x[i], y[i])",
        "x, y: select(-2 * x[i] < -2 * y[i], x[i], y[i]) = select(x[i] < y[i], x[i], y[i])",
        "x i8, y i8 -> i8: select(2 * x[i] < 2 * y[i], x[i], y[i]) = select(x[i] < y[i], x[i], y[i])",
        "x i8, y i8 -> i8: select(2 * x[i] == 2 * y[i], x[i], 0) = select(x[i] == y[i], x[i], 0)"],
    "order_of_negatives": [
        "x, y: select(-x[i] < -y[i], x[i], y[i]) = select(x[i] < y[i], x[i], y[i])",
        "x, y: select(x[i] < -y[i], x[i], y[i]) = select(-x[i] < y[i], x[i], y[i])",
        "x i8, y i8 -> i8: select(-x[i] < -y[i], x[i], y[i]) = select(y[i] < x[i], x[i], y[i])"],
}


def near_misses():
    """The truth that is missed, a name, and what does not hold."""
    for name, lines in FALSEHOODS.items():
        for i, line in enumerate(lines):
            yield name, f"{name}__{i}", line


def pair(name, line):
    """The two functions of a statement, @NAME_before and @NAME_after."""
    head, body = line.split(": ", 1)
    before, after = body.split(" = ")
    operands, _, result = (part.strip() for part in head.partition("->"))
    result = result or "f32"
    names, types, marks = [], [], []
    for operand in filter(None, operands.split(", ")):
        operand, *words = operand.split()
        assumed = [w for w in words if w in ("positive", "non-negative", "non-zero")]
        names.append(operand)
        types.append(next((w for w in words if w not in assumed), "f32"))
        marks.append(assumed)
    # An operand gives the size a name, also where none is read.
    names, types, marks = ["shape", *names], ["f32", *types], [[], *marks]

    def function(suffix, element):
        arguments = ", ".join(
            f"%{n}: tensor<?x{t}, #mlc.dims<[n]>>" + (f" {{mlc.assume = {json_list(m)}}}" if m and suffix == "before" else "")
            for n, t, m in zip(names, types, marks))
        own, kinds = ", ".join(f"%{n}" for n in names), ", ".join(f"tensor<?x{t}, #mlc.dims<[n]>>" for t in types)
        out = f"tensor<?x{result}, #mlc.dims<[n]>>"
        return (f"func.func @{name}_{suffix}({arguments}) -> {out} {{\n"
                f'  %r = mlc.compute {own} {{definition = "({", ".join(names)}; n) Y[i] = {element}", dims = #mlc.dims<[n]>, '
                f"integers = #mlc.dims<[n]>, reals = [], type = {result}}} : ({kinds}) -> {out}\n  return %r : {out}\n}}\n")

    if head.startswith("arith "):
        names, types = zip(*(operand.split() for operand in head.removeprefix("arith ").split(", ")))
        return "".join(of_arith(f"{name}_{suffix}", names, types, element) for suffix, element in [("before", before), ("after", after)])
    return function("before", before) + function("after", after)


def of_arith(name, names, types, element):
    """A function that applies operations of arith to each element: `extui_i32(trunci_i8(x))`."""
    lines, kind = [], types[0]

    def emit(node, expected):
        if isinstance(node, ast.Name):
            return f"%e_{node.id}", types[names.index(node.id)]
        if not isinstance(node, ast.Call):
            lines.append(f"arith.constant {ast.literal_eval(node)} : {expected}")
            return f"%v{len(lines) - 1}", expected
        operation, _, to = node.func.id.partition("_")
        operands = [emit(argument, expected) for argument in node.args]
        own = operands[0][1]
        lines.append(f"arith.{operation} {', '.join(value for value, _ in operands)} : {own}{f' to {to}' if to else ''}")
        return f"%v{len(lines) - 1}", to or own

    value, _ = emit(ast.parse(element, mode="eval").body, kind)
    body = "".join(f"    %v{i} = {line}\n" for i, line in enumerate(lines))
    out, maps = f"tensor<?x{kind}>", ", ".join(["affine_map<(i) -> (i)>"] * (len(names) + 1))
    arguments = ", ".join(f"%{n}: tensor<?x{t}>" for n, t in zip(names, types))
    return (f"func.func @{name}({arguments}, %o: {out}) -> {out} {{\n"
            f'  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}} '
            f"ins({', '.join(f'%{n}' for n in names)} : {', '.join(f'tensor<?x{t}>' for t in types)}) outs(%o : {out}) {{\n"
            f"  ^bb0({', '.join(f'%e_{n}: {t}' for n, t in zip(names, types))}, %z: {kind}):\n{body}"
            f"    linalg.yield {value} : {kind} }} -> {out}\n  return %r : {out}\n}}\n")


def json_list(words):
    return "[" + ", ".join(f'"{w}"' for w in words) + "]"
