/** The command: one line when ready, a log a person can follow, sentences for mistakes. */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"
import { hello, KEY } from "../test/simulator.ts"

const MAIN = fileURLToPath(new URL("main.ts", import.meta.url))

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
  test("says where it listens, logs requests, and ends when told to", async () => {
    const { child, nextLine, ended } = run(
      "--port",
      "0",
      "--brain",
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

  test.each([
    { options: ["--brain", "nobody"], sentence: /^There is no brain named "nobody"/ },
    { options: ["--port", "x"], sentence: /^--port must be a whole number up to 65535, not "x"\.$/ },
    { options: ["--nope"], sentence: /^Unknown option '--nope'/ },
    { options: ["--bind-thinking", "maybe"], sentence: /^--bind-thinking must be one of off, allow-report, error/ },
  ])("$options gets a sentence", async ({ options, sentence }) => {
    const { errors, ended } = run(...options)
    expect(await ended).toBe(1)
    expect(errors().trim()).toMatch(sentence)
    expect(errors()).not.toMatch(/^\s+at /m)
  })
})
