import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { escapeForTerminal, escapeToLine, jsonForTerminal, terminalEscaper } from "./text.ts"

/** All characters that control a terminal or are invisible, except tab and line feed. */
const HARMFUL = /(?![\t\n])[\p{Cc}\p{Bidi_Control}\u200b\u2028\u2029\u2060\ufeff\u{e0000}-\u{e007f}]/u
/** Texts with many such characters. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary" }),
      fc.integer({ min: 0, max: 0xa0 }).map((code) => String.fromCodePoint(code)),
      fc.constantFrom(
        "\u001b[",
        "\u001b]52;c;",
        "\u009b",
        "\r",
        "\n",
        "\u202e",
        "\u200d",
        "\u{e0041}",
        "👩‍👩‍👧",
        "❤️",
        "1️⃣",
        "葛󠄀",
      ),
    ),
  )
  .map((parts) => parts.join(""))

describe("PERM-5 text is made visible", () => {
  it.each([
    ["an escape sequence", "a\u001b[2Jb", "a␛[2Jb"],
    ["a clipboard write", "\u001b]52;c;cm0=\u0007", "␛]52;c;cm0=␇"],
    ["an 8-bit control", "\u009b31mred", "<U+009B>31mred"],
    ["overwriting a line", "rm -rf /\rls", "rm -rf /␍ls"],
    ["backspaces and delete", "a\b\u007f", "a␈␡"],
    ["a bidi override", "user\u202etxt.exe", "user<U+202E>txt.exe"],
    ["a zero-width space and a joiner that joins nothing", "a\u200bb\u200dc", "a<U+200B>b<U+200D>c"],
    ["tag characters, which spell hidden text", "x\u{e0068}\u{e0069}", "x<U+E0068><U+E0069>"],
    ["a selector that selects nothing", "1\ufe0fa\ufe0f", "1<U+FE0F>a<U+FE0F>"],
    ["half a surrogate pair", "a\ud800b", "a<U+D800>b"],
  ])("%s", (_, text, shown) => {
    expect(escapeForTerminal(text)).toBe(shown)
  })

  it("line ends, tabs, emoji and scripts that need joiners stay as they are", () => {
    const text = "one\r\ntwo\tthree 👩‍👩‍👧 ❤️ 1️⃣ 🇩🇪 می‌خواهم नमस्‍ते 葛󠄀"
    expect(escapeForTerminal(text)).toBe(text.replace("\r\n", "\n"))
  })

  it("a title is one line, and colours of other programs are left out", () => {
    expect(escapeToLine("a\u001b[32mb\u001b[0m\u001b]0;title\u0007c\r\nd\te")).toBe("ab␛]0;title␇c d e")
  })

  it("property: no harmful character is left, and doing it twice changes nothing", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(escapeForTerminal(text)).not.toMatch(HARMFUL)
        expect(escapeToLine(text)).not.toMatch(/[\t\n]/)
        expect(escapeToLine(text)).not.toMatch(HARMFUL)
        expect(escapeForTerminal(escapeForTerminal(text))).toBe(escapeForTerminal(text))
      }),
    )
  })

  it("property: pieces of a stream show what the whole text shows", () => {
    const pieces = fc.tuple(hostile, fc.array(fc.nat(60), { maxLength: 8 }))
    fc.assert(
      fc.property(pieces, ([text, cuts]) => {
        const shown = terminalEscaper()
        const at = [0, ...cuts.map((cut) => Math.min(cut, text.length)).toSorted((a, b) => a - b), text.length]
        const streamed = at.slice(1).map((end, i) => shown(text.slice(at[i], end)))
        for (const piece of streamed) expect(piece).not.toMatch(HARMFUL)
        expect(streamed.join("") + shown("\n")).toBe(escapeForTerminal(`${text}\n`))
      }),
    )
  })

  it("property: JSON keeps the exact text without harmful characters", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const json = jsonForTerminal({ [text]: text })
        expect(json).not.toMatch(HARMFUL)
        expect(JSON.parse(json)).toEqual({ [text]: text })
      }),
    )
  })
})
