import fc from "fast-check"
import { expect, test } from "vitest"
import { guardOutput, outputFilter, terminalSequence } from "./output.ts"
import { colourStyle as style } from "./terminal.ts"

test("PERM-5 only sequences of this program reach the terminal: the same ones in a text are shown as text", () => {
  const filter = outputFilter()
  expect(filter(`${style.red("\u001b[31mno\u001b[39m")}${terminalSequence("?25l")}`)).toBe(
    "\u001b[31m␛[31mno␛[39m\u001b[39m\u001b[?25l",
  )
})

test("the cursor comes back when the renderer ends; within a text the sequence is shown", () => {
  const { write } = process.stderr
  const written: unknown[] = []
  process.stderr.write = (chunk: unknown) => written.push(chunk) > 0
  try {
    guardOutput()
    process.stderr.write("\u001b[?25h")
    process.stderr.write("a\u001b[?25h")
  } finally {
    process.stderr.write = write
  }
  expect(written).toEqual(["\u001b[?25h", "a␛[?25h"])
})

test("a style goes on after the end of an inner one", () => {
  expect(outputFilter()(style.dim(`a${style.bold("b")}c`))).toBe("\u001b[2ma\u001b[1mb\u001b[22m\u001b[2mc\u001b[22m")
})

test("PERM-5 property: any styled text, printed in any chunks, nothing else controls the terminal", () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom("\u001b", "[", "3", "1", "m", ";", "\u009b", "\r", "\u0007"),
      fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
    ),
  })
  const looks = fc.constantFrom(style.red, style.bold, (same: string) => same)
  fc.assert(
    fc.property(fc.array(fc.tuple(looks, text)), (pieces) => {
      const filter = outputFilter()
      const printed = pieces.map(([look, piece]) => filter(look(piece))).join("")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences this program makes
      expect(printed.replaceAll(/\u001b\[(?:31|39|1|22)m/g, "")).not.toMatch(/(?![\t\n])\p{Cc}/u)
    }),
  )
})
