/** Copying through the terminal and through real test programs. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { copyText, describeCopy } from "./slash-commands.ts"

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "strata-copy-"))
})
afterEach(() => rmSync(directory, { recursive: true }))

/** Creates a program that stores its input and its arguments. */
function program(name: string, exit = 0): void {
  const path = join(directory, name)
  const kept = join(directory, `${name}.got`)
  writeFileSync(
    path,
    `#!/bin/sh\ncat > "${kept}"\necho "$* \${ANTHROPIC_API_KEY-no key}" > "${kept}.args"\nexit ${exit}\n`,
  )
  chmodSync(path, 0o755)
}
const got = (name: string) => readFileSync(join(directory, name), "utf8")

function copying(env: Readonly<Record<string, string>>, platform: NodeJS.Platform = "linux") {
  const written: string[] = []
  const path = `${directory}:/usr/bin:/bin`
  const clipboard = { env: { PATH: path, ...env }, platform, write: (text: string) => void written.push(text) }
  return { written, copy: (text: string) => copyText(text, clipboard) }
}

const TEXT = "grüße; $(rm -rf /)\nline two"

test("BEY-18 the terminal gets the text as OSC 52, and nothing else runs where there is no display", async () => {
  program("xclip")
  const { written, copy } = copying({})
  expect(await copy(TEXT)).toEqual({ byTerminal: true })
  expect(written).toEqual([`\u001b]52;c;${Buffer.from(TEXT).toString("base64")}\u0007`])
  expect(() => got("xclip.got")).toThrow("ENOENT")
})

test.each([
  [{ DISPLAY: ":0" }, "linux", "xclip", "-selection clipboard"],
  [{ WAYLAND_DISPLAY: "w", DISPLAY: ":0" }, "linux", "wl-copy", ""],
  [{}, "darwin", "pbcopy", ""],
] as const)(
  "BEY-18 a clipboard program gets the text through its input, and no key: %j on %s",
  async (env, platform, name, args) => {
    program("xclip")
    program(name)
    const { copy } = copying({ ...env, ANTHROPIC_API_KEY: "sk" }, platform)
    expect(await copy(TEXT)).toEqual({ byTerminal: true, program: name })
    expect(got(`${name}.got`)).toBe(TEXT)
    expect(got(`${name}.got.args`).trim()).toBe(`${args} no key`.trim())
  },
)

test("BEY-18 a program that fails or is missing is passed over, and a text too long for a terminal is not sent to it", async () => {
  program("wl-copy", 1)
  const { written, copy } = copying({ WAYLAND_DISPLAY: "w", DISPLAY: ":0" })
  expect(await copy("x".repeat(60_000))).toEqual({ byTerminal: false })
  expect(written).toEqual([])
})

test("BEY-18 the sentence says how many characters, and how", () => {
  expect(describeCopy("a😀b", { byTerminal: true, program: "xclip" })).toBe(
    "Copied the last answer, 3 characters (xclip).",
  )
  expect(describeCopy("a", { byTerminal: true })).toContain("to the terminal's clipboard")
  expect(describeCopy("a", { byTerminal: false })).toMatch(/^Not copied: .*\/export writes a file\.$/)
})
