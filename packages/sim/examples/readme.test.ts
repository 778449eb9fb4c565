/** Runs every code block of the README and checks its output. */
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { expect, onTestFinished, test, vi } from "vitest"
import { isWhole } from "../../core/test/size.ts"

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")
const all = [...read("../README.md").matchAll(/^```(\w*)\n(.*?)^```$/gms)]
const blocks = (language: string) => all.filter(([, of]) => of === language).map(([, , code]) => code!)

/** The programs and what they print. The block that is a test asserts its own outcome. */
const PROGRAMS = [
  {
    file: "own-responder.ts",
    run: () => import("./own-responder.ts"),
    printed: [[{ type: "text", text: "You wrote: Hi" }]],
  },
  { file: "cache-alone.ts", run: () => import("./cache-alone.ts"), printed: [[0, 2000, 10], [2000]] },
]

test("BEY-8 every TypeScript block of the README is a file that runs here", () => {
  const files = ["in-a-test.test.ts", ...PROGRAMS.map(({ file }) => file)].map(read)
  expect(blocks("ts").sort()).toEqual(files.sort())
})

test.each(PROGRAMS)("BEY-8 the README's $file prints what its comments say", async ({ run, printed }) => {
  const log = vi.spyOn(console, "log").mockImplementation(() => {})
  onTestFinished(() => log.mockRestore())
  await run()
  expect(log.mock.calls).toEqual(printed)
})

test.runIf(isWhole)("BEY-8 the README's command starts the simulator and prints the lines shown", async () => {
  const [command] = blocks("sh")
  const [address, answered] = blocks("")[0]!.split("\n")
  const args = command!.trim().split(" ").slice(2)
  expect(args.slice(0, 2)).toEqual(["--port", "4010"])
  const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))
  const child = spawn(process.execPath, [main, "--port", "0", ...args.slice(2)], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  onTestFinished(() => void child.kill())
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const nextLine = async () => (await lines.next()).value as string

  const first = await nextLine()
  const url = /http:\S+\d/.exec(first)![0]
  expect(shape(first)).toBe(shape(address!))
  const response = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": "anything", "anthropic-version": "2026-10-21" },
    body: JSON.stringify({
      model: "claude-opus-5-5",
      max_tokens: 100,
      stream: true,
      system: [{ type: "text", text: "stone ".repeat(2000), cache_control: { type: "ephemeral" } }],
      messages: [{ role: "user", content: "Hi" }],
    }),
  })
  await response.text()
  // this request reads nothing from the cache and calls no tool
  expect(shape(await nextLine())).toBe(shape(answered!).replace("# read, ", "").replace("tool_use", "end_turn"))
})

/** Replaces the numbers and the token of a line, which differ between runs. */
const shape = (line: string) => line.replace(/token .*/, "token").replace(/\d[\d.,:]*/g, "#")
