/** Pages that are printed once, at several widths, in a pipe, without colours, and on a dumb terminal. The captures are in `captures/`. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { outputFilter } from "../src/display/output.ts"
import { detectCapabilities, type Terminal } from "../src/display/terminal.ts"
import { strata } from "../src/strata.ts"
import { expectFits, expectKept, SIZES, sizeName } from "./captures.ts"
import { EmulatedScreen, type ScreenSize } from "./emulated-screen.ts"
import { emptyPlace } from "./strata-process.ts"

const place = emptyPlace()
afterAll(() => place.remove())

const FILE = join(place.cwd, "nightly.jsonl")
writeFileSync(FILE, `${transcript().join("\n")}\n`)
mkdirSync(join(place.cwd, "project"))

/** A short conversation in the form of Claude Code's transcripts. */
function transcript(): readonly string[] {
  const line = (n: number, entry: object) =>
    JSON.stringify({
      ...{ uuid: `u${n}`, parentUuid: n === 0 ? null : `u${n - 1}`, sessionId: "s", cwd: "/home/ada/nightly" },
      ...{ timestamp: new Date(Date.UTC(2026, 10, 16, 9, n)).toISOString(), version: "2.1.300" },
      ...entry,
    })
  const asked = line(0, { type: "user", message: { role: "user", content: "Find out why the nightly build fails." } })
  const rounds = Array.from({ length: 8 }, (_, i) => {
    const path = `packages/core/src/views/context/with-a-rather-long-name/part-${i % 3}.ts`
    const use = { type: "tool_use", id: `t${i}`, name: i % 2 === 0 ? "Read" : "Bash", input: { file_path: path } }
    const usage = { input_tokens: 4, output_tokens: 200, cache_creation_input_tokens: 4_000 }
    return [
      line(2 * i + 1, {
        type: "assistant",
        message: {
          ...{ id: `m${i}`, role: "assistant", model: "claude-opus-5-5", type: "message", stop_reason: "tool_use" },
          content: [{ type: "text", text: "I look at it." }, use],
          usage: { ...usage, cache_read_input_tokens: i * 4_000 },
        },
      }),
      line(2 * i + 2, {
        type: "user",
        message: {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: `t${i}`, content: "export const value = 1\n".repeat(400) }],
        },
      }),
    ]
  })
  return [asked, ...rounds.flat()]
}

interface Surface extends ScreenSize {
  readonly isTTY: boolean
  readonly env: Readonly<Record<string, string>>
}

/** Output of a command on such a terminal. */
async function printed(args: readonly string[], { isTTY, env, ...size }: Surface): Promise<string> {
  const filter = outputFilter()
  let text = ""
  const print = (more: string) => {
    text += filter(more)
  }
  const terminal: Terminal = { print, complain: print, ...size, ...detectCapabilities({ env, noColour: false, isTTY }) }
  const surroundings = { cwd: join(place.cwd, "project"), env: { ...place.env, ...env }, terminal }
  expect(await strata(args, surroundings)).toBe(0)
  return text
}

const PAGES = [
  ["help", ["--help"]],
  ["help-chat", ["chat", "--help"]],
  ["inspect", ["inspect", FILE]],
] as const
const COLOUR = /^(?:3\d|4\d|9\d|10\d)(?:;|$)/
const ESC = "\u001b"

describe.each(PAGES)("strata %s", (name, args) => {
  test("fits every width, and moves no cursor", async () => {
    const captures = []
    for (const size of SIZES) {
      const screen = new EmulatedScreen({ ...size, rows: 1_000 })
      screen.write(await printed(args, { ...size, isTTY: true, env: { TERM: "xterm-256color" } }))
      expect(screen.tooWide).toEqual([])
      expectFits(screen.rows(), size, false)
      expect([...screen.sequences].filter((letter) => letter !== "m")).toEqual([])
      captures.push([sizeName(size), screen.rows().map(withoutPlace), size] as const)
    }
    if (name !== "help-chat") await expectKept(`strata-${name}`, captures) // this capture would change with every new command of the chat
  })

  test.each([
    ["in a pipe", { isTTY: false, env: { TERM: "xterm-256color" } }],
    ["with NO_COLOR", { isTTY: true, env: { TERM: "xterm-256color", NO_COLOR: "1" } }],
    ["with TERM=dumb", { isTTY: true, env: { TERM: "dumb" } }],
  ])("%s it prints as many lines, without a single sequence", async (_, surface) => {
    const usual = { columns: 80, rows: 24 }
    const plain = await printed(args, { ...usual, ...surface })
    expect(plain).not.toContain(ESC)
    const screen = new EmulatedScreen({ ...usual, rows: 1_000 })
    screen.write(await printed(args, { ...usual, isTTY: true, env: { TERM: "xterm-256color" } }))
    expect(plain.trimEnd().split("\n")).toHaveLength(screen.rows().join("\n").trimEnd().split("\n").length)
    if (name === "inspect") expect([...screen.styles].some((style) => COLOUR.test(style))).toBe(true)
  })
})

/** Removes the path of the temporary directory, which differs between machines. */
const withoutPlace = (row: string): string => row.replace(/^── .*nightly\.jsonl.*$/, "── nightly.jsonl ──")

test("the chat does not draw on a dumb terminal, and says what to use", async () => {
  const env = { ...place.env, TERM: "dumb", ANTHROPIC_API_KEY: "none" }
  const printed: string[] = []
  const terminal: Terminal = {
    ...{ print: (text) => void printed.push(text), complain: (text) => void printed.push(text), columns: 80, rows: 24 },
    ...detectCapabilities({ env, noColour: false, isTTY: true }),
  }
  expect(await strata(["chat"], { cwd: join(place.cwd, "project"), env, terminal })).toBe(2)
  expect(printed.join("")).toContain('Use: strata run "task"')
})
