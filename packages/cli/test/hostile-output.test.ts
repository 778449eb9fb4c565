/** Hostile text from all sources, through real processes and inside the test: none of it may control the terminal. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { expect, test } from "vitest"
import { needs } from "../../core/test/needs.ts"
import { isWhole } from "../../core/test/size.ts"
import { startChat, TAKES_KEYS } from "./chatting.ts"
import { openPty } from "./terminal.ts"
import { type CommandResult, calls, workbench } from "./workbench.ts"

/** Clipboard, title, colours, cursor, DCS, APC, 8-bit CSI and OSC, overwriting, bell, bidi, tags. */
const ATTACKS = [
  ...["\u001b]52;c;cm0gLXJm\u0007", "\u001b]0;title\u001b\\", "\u001b[8mhidden\u001b[0m", "\u001b[2J\u001b[9;9H"],
  ...["\u001bP+q544e\u001b\\", "\u001b_Gf=1\u001b\\", "\u009b31m", "\u009d52;c;AA\u009c", "safe\rEVIL", "x\b\b\u007f"],
  ...["\u0007", "\u202eexe.txt", "\u2066a\u2069", "a\u200bb", "\u{e0072}\u{e006d}"],
]
const HOSTILE = `start ${ATTACKS.join(" ")} finish`
// biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal obeys
const HARMFUL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200b\u{e0000}-\u{e007f}]/u

function expectHarmless({ stdout, stderr }: CommandResult): void {
  expect(JSON.stringify(HARMFUL.exec(stdout))).toBe("null")
  expect(JSON.stringify(HARMFUL.exec(stderr))).toBe("null")
}

test("PERM-5 answers, tool calls and their output reach a pipe only in visible form, also with colours on", async () => {
  await using bench = await workbench({
    turns: [
      calls(
        { Bash: { command: `touch ${HOSTILE}` }, Read: { file_path: HOSTILE }, [`Tool${ATTACKS[0]}`]: {} },
        HOSTILE,
      ),
      HOSTILE,
    ],
  })
  const ended = await bench.strata(["run", HOSTILE], { env: { FORCE_COLOR: "1", NO_COLOR: "" } }).ended
  expectHarmless(ended)
  expect(ended.stdout).toContain("␛]52;c;cm0gLXJm␇")
  expect(ended.stdout).toContain("<U+009B>31m")
  expect(ended.stdout).toContain("safe␍EVIL")
  expect(ended.stderr).toContain("<U+202E>exe.txt")
})

test("PERM-5 --json gives the exact text without a single control character", async () => {
  await using bench = await workbench({ turns: [HOSTILE] })
  const ended = await bench.here(["run", "--json", "Go"])
  expectHarmless(ended)
  const texts = ended.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; text?: string })
    .filter(({ type }) => type === "text")
  expect(texts.map(({ text }) => text).join("")).toBe(HOSTILE)
})

test("PERM-5 errors of the API, hooks, settings, names of models and the command line", async () => {
  await using bench = await workbench({ turns: ["Done."] })
  const error = { type: "error", error: { type: "invalid_request_error", message: HOSTILE } }
  const server = createServer((_, response) => {
    response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify(error))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const failed = await bench.here(["run", "Go"], { env: { ANTHROPIC_BASE_URL: url } })
  server.close()
  expectHarmless(failed)
  expect(failed.stderr).toContain("␛]52;c;")
  for (const args of [[HOSTILE], [`--${HOSTILE}`], ["run", `--${HOSTILE}`], ["run", "--cwd", HOSTILE, "Go"]])
    expectHarmless(await bench.here(args))
  expectHarmless(await bench.here(["run", "--model", HOSTILE, "Go"]))
  mkdirSync(bench.home, { recursive: true })
  const hook = { command: `printf '${ATTACKS.join("").replaceAll("\u001b", "\\033")}' >&2; exit 2` }
  writeFileSync(
    join(bench.home, "settings.json"),
    JSON.stringify({ [HOSTILE]: 1, hooks: { UserPromptSubmit: [hook] } }),
  )
  expectHarmless(await bench.here(["run", "Go"]))
  for (const args of [["config"], ["config", "--json"]]) expectHarmless(await bench.here(args))
})

test("PERM-5 an error that no one caught, a warning and a stray print", async () => {
  await using bench = await workbench({ turns: ["Done."] })
  const text = JSON.stringify(HOSTILE)
  const preload = (code: string) => ({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` })
  const thrown = `process.nextTick(() => setImmediate(() => { throw new Error(${text}) }))`
  const crashed = await bench.strata(["run", "Go"], { env: preload(thrown) }).ended
  expectHarmless(crashed)
  expect(crashed).toMatchObject({ code: 1, stderr: expect.stringContaining("␛]52;c;") })
  const script = `setImmediate(() => { process.emitWarning(${text}); console.log(${text}); console.error(${text}) })`
  expectHarmless(await bench.strata(["config"], { env: preload(script) }).ended)
})

test("PERM-5 a hostile transcript in strata inspect", async () => {
  await using bench = await workbench({ turns: [calls({ Read: { file_path: HOSTILE } }, HOSTILE), HOSTILE] })
  const events = (await bench.here(["run", "--json", HOSTILE])).stdout
  const { conversation } = JSON.parse(events.split("\n")[0]!) as { conversation: string }
  const [project] = readdirSync(join(bench.home, "projects"))
  const file = join(bench.home, "projects", project!, `${conversation}.jsonl`)
  for (const more of [[], ["--json"]]) expectHarmless(await bench.here(["inspect", ...more, file]))
  expectHarmless(await bench.here(["inspect", file], { env: { FORCE_COLOR: "0" } }))
})

/** Sequences of the chat's renderer: colours, cursor movement, clearing, frames, paste mode, and the query for a key protocol. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the renderer's sequences
const RENDERED = /\u001b\[(?:\d*(?:;\d+)*m|\d*[ABCDGJK]|\?(?:25|2004|2026)[hl]|\?u)|\r/gu

test.runIf(isWhole)("PERM-5 the chat: answers, tools, dialogs, titles and pasted text", needs("python3"), async () => {
  await using at = await startChat((program) => openPty(program), {
    turns: [calls({ Bash: { command: `touch '${HOSTILE}'` } }, HOSTILE), `${HOSTILE}\n\n    ${HOSTILE}\n\nTHE END`],
  })
  const terminal = at.terminal as ReturnType<typeof openPty>
  terminal.paste(HOSTILE)
  await terminal.sees("finish")
  terminal.press("enter")
  await terminal.sees(TAKES_KEYS)
  terminal.type("y")
  await terminal.sees("THE END")
  terminal.type("/title")
  terminal.press("enter")
  terminal.press("ctrl-o")
  await terminal.sees("touch")
  terminal.press("ctrl-d")
  await terminal.sees("To continue")
  expect(terminal.bytes()).toContain("␛]52;c;cm0gLXJm␇")
  expect(JSON.stringify(HARMFUL.exec(terminal.bytes().replaceAll(RENDERED, "")))).toBe("null")
})
