/** The command: one line when it is ready, a log for humans, and one line for a mistake. */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { describe, expect, inject, test } from "vitest"
import { hello, KEY, simulator } from "../test/simulator.ts"

/** The bundled command, which starts faster than its sources. */
const MAIN = join(inject("bundle"), "sim", "dist", "main.js")

function run(...options: string[]) {
  const child = spawn(process.execPath, [MAIN, ...options], { stdio: ["ignore", "pipe", "pipe"] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let errors = ""
  child.stderr.on("data", (chunk) => {
    errors += chunk
  })
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve))
  return { child, nextLine: async () => (await lines.next()).value as string, errors: () => errors, ended }
}

describe("BEY-8 the command", () => {
  test("says where it listens, logs requests, and ends on SIGTERM", async () => {
    const { child, nextLine, ended } = run(
      "--port",
      "0",
      "--responder",
      "extractive",
      "--seed",
      "1",
      "--log",
      "--token",
      "t",
    )
    const [, url] = /^Strata simulator \(extractive\) on (http:\/\/127\.0\.0\.1:\d+)$/.exec(await nextLine()) ?? []
    const headers = { "x-api-key": KEY, "anthropic-version": "2026-10-21" }
    const response = await fetch(`${url}/v1/messages`, { method: "POST", headers, body: JSON.stringify(hello()) })
    expect(response.status).toBe(200)
    expect(await nextLine()).toMatch(
      /^\d\d:\d\d:\d\d {2}200 {2}claude-opus-5 {2}in 5 {2}out \d+ {2}end_turn {2}\$0\.\d{4}$/,
    )
    child.kill("SIGTERM")
    expect(await ended).toBe(0)
  })

  test("names the responder that answers where none was asked for", async () => {
    const { child, nextLine, ended } = run("--port", "0")
    expect(await nextLine()).toMatch(/^Strata simulator \(worker\) on http/)
    child.kill("SIGTERM")
    expect(await ended).toBe(0)
  })

  test.each([
    {
      options: ["--responder", "nobody"],
      sentence: /^There is no responder named "nobody"\. The responders are: worker, .*\.$/,
    },
    { options: ["--responder", "scripted"], sentence: /^The responder "scripted" needs --script <file>\.$/ },
    {
      options: ["--responder", "helpful", "--script", "/none.json"],
      sentence: /^--script is for the responder "scripted", not for "helpful"\.$/,
    },
    { options: ["--script", "/none.json"], sentence: /^--script: cannot read \/none\.json: ENOENT/ },
    { options: ["--port", "x"], sentence: /^--port must be a whole number up to 65535, not "x"\.$/ },
    { options: ["--port"], sentence: /^--port needs a value\. See --help\.$/ },
    { options: ["--port", "--log"], sentence: /^--port needs a value\. See --help\.$/ },
    { options: ["--log=yes"], sentence: /^--log takes no value\. See --help\.$/ },
    { options: ["--nope"], sentence: /^There is no option --nope\. See --help\.$/ },
    { options: ["worker"], sentence: /^Unexpected argument "worker"\. See --help\.$/ },
    { options: ["--bind-thinking", "maybe"], sentence: /^--bind-thinking must be one of off, allow-report, error/ },
  ])("$options ends with code 2 and one line that says why", async ({ options, sentence }) => {
    const { errors, ended } = run(...options)
    expect(await ended).toBe(2)
    expect(errors().trim()).toMatch(sentence)
    expect(errors().trim().split("\n")).toHaveLength(1)
  })

  test("a port in use ends with code 1 and says how to choose another", async () => {
    const { port } = await simulator()
    const { errors, ended } = run("--port", `${port}`)
    expect(await ended).toBe(1)
    expect(errors()).toBe("The port is in use. Choose another with --port, or --port 0 for any free one.\n")
  })
})
