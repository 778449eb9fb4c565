import fc from "fast-check"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { expect, test } from "vitest"
import { isWhole, size } from "../../core/test/size.ts"
import { countPiece, PIECE, PLAIN } from "./word-tokens.ts"

const RUNS = Number(process.env.FUZZ_RUNS ?? size(500, 3_000))

/** Characters that the splitting rules distinguish, and some that they do not know. */
const PARTS = [
  ...["a", "B", "abc", "ABCdef", "x2", "_", "internationalisation", "'s", "'LL", "'ve", "'r", "'re", "'"],
  ...[" ", "  ", "\t", "\v", "\n", "\r\n", "\n ", "/", "//", "1", "23456", "(", ");", "\x00", "\x1f", "\x7f"],
  ...["<|endoftext|>", "é", "—", "字", "🪨", "\ud83e", "\u00a0"],
]

const pieces = fc
  .oneof(fc.array(fc.constantFrom(...PARTS), { maxLength: 40 }), fc.array(fc.string({ unit: "binary" })))
  .map((parts) => parts.join("").slice(0, PIECE))

test("BEY-8 tokens are those of the tokenizer, for every text", () => {
  fc.assert(
    fc.property(pieces, (piece) => {
      const tokens = countTokens(piece, PLAIN)
      expect(countPiece(piece)).toBe(tokens)
      expect(countPiece(piece)).toBe(tokens) // now its words are cached
    }),
    { numRuns: RUNS },
  )
})

test.runIf(isWhole)("BEY-8 tokens stay right when the store of words is full and begins again", () => {
  const word = (index: number) =>
    `w${[...index.toString(26)].map((digit) => String.fromCharCode(97 + Number.parseInt(digit, 26))).join("")}`
  const piece = (at: number) => Array.from({ length: 200 }, (_, index) => word(at + index)).join(" ")
  for (let at = 0; at < 140_000; at += 200) countPiece(piece(at))
  for (const at of [0, 100_000, 139_800]) expect(countPiece(piece(at))).toBe(countTokens(piece(at), PLAIN))
})
