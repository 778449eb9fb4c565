/** `strata wrap`: a program with the official SDK, as a separate process, with the simulator as the server. */
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { isWhole } from "../../core/test/size.ts"
import { MAIN } from "./strata-process.ts"
import { PROGRAM, wrapping } from "./wrapping.ts"

const program = (...args: readonly string[]) => ["--", process.execPath, PROGRAM, ...args]
const [ROUNDS, CHARACTERS] = ["14", "16000"]
const dollarsIn = (text: string, before: RegExp): number =>
  Number(new RegExp(`${before.source} \\$([\\d.]+)`).exec(text)?.[1])
const strataOf = (...args: readonly string[]) => [process.execPath, MAIN, ...args]

describe("BEY-11 strata wrap", () => {
  test("observes the first time in a project: the bill is that of going direct, and it says how to switch on", async () => {
    await using direct = await wrapping({ window: 60_000 })
    const plain = await direct.start([process.execPath, PROGRAM, "6", "4000"]).ended
    await using wrapped = await wrapping({ window: 60_000 })
    const { code, stdout, stderr } = await wrapped.strata(["wrap", ...program("6", "4000")])
    expect(stdout, stderr).toBe(plain.stdout)
    expect(code).toBe(0)
    expect(wrapped.sim.stats()).toEqual(direct.sim.stats())
    expect(stderr).toContain("Strata only observes in this project: nothing is changed.")
    expect(stderr).toContain("strata wrap --manage --")
    expect(dollarsIn(stderr, /They cost/)).toBeCloseTo(direct.sim.stats().total.dollars, 4)
    expect(stderr).toContain("the same as direct")
    expect(stderr).toContain("Managed, Strata would have done nothing yet")
    const journals = /Journals: (.+)/.exec(stderr)![1]!
    expect(readdirSync(journals).filter((name) => name.endsWith(".jsonl"))).toHaveLength(1)
  })

  test.runIf(isWhole)("observing a long conversation, it says what Strata would have done and saved", async () => {
    await using wrapped = await wrapping()
    const { stderr } = await wrapped.strata(["wrap", "--observe", ...program("6", "80000")])
    expect(stderr).toMatch(/Managed, Strata would have acted on \d+ results? .* about \$[\d.]+ (?:less|more) \(\d+%\)/)
  })

  test("managed: equal answers, and the figures of the report are the simulator's, with Strata's own requests", async () => {
    await using direct = await wrapping({ window: 60_000 })
    await using wrapped = await wrapping({ window: 60_000 })
    const plain = await direct.start([process.execPath, PROGRAM, "8", CHARACTERS]).ended
    const { code, stdout, stderr } = await wrapped.here(["wrap", "--manage", ...program("8", CHARACTERS)])
    expect(stdout, stderr).toBe(plain.stdout)
    expect(code).toBe(0)
    const { total, errors } = wrapped.sim.stats()
    expect(errors).toEqual({})
    expect(dollarsIn(stderr, /cost/)).toBeCloseTo(total.dollars, 4)
    expect(stderr).toMatch(/Direct: about \$\d/)
    expect(stderr).toContain("an estimate")
    expect(stderr).not.toContain("only observes")
  })

  test.runIf(isWhole)(
    "managed past the window: direct is refused, wrapped goes on, and the report has the summaries too",
    async () => {
      await using direct = await wrapping({ window: 60_000 })
      // notes or a summary unfinished at the end would be estimated here, but not billed by the server
      const settings = { switches: { notes: false, "compact-ahead": false } }
      await using wrapped = await wrapping({ window: 60_000, settings })
      expect((await direct.start([process.execPath, PROGRAM, ROUNDS, CHARACTERS]).ended).code).not.toBe(0)
      const { code, stderr } = await wrapped.here(["wrap", "--manage", ...program(ROUNDS, CHARACTERS)])
      expect(code, stderr).toBe(0)
      const { total, errors } = wrapped.sim.stats()
      expect(errors).toEqual({})
      expect(dollarsIn(stderr, /cost/)).toBeCloseTo(total.dollars, 4)
    },
  )

  test("--manage is remembered for the project, --observe takes it back, and both at once are refused", async () => {
    await using wrapped = await wrapping()
    const command = ["--", process.execPath, "-e", "0"]
    const stderrOf = async (...args: readonly string[]) => (await wrapped.here(["wrap", ...args, ...command])).stderr
    expect(await stderrOf("--manage")).not.toContain("only observes")
    expect(await stderrOf()).not.toContain("only observes")
    expect(await stderrOf("--observe")).toContain("only observes")
    expect(await stderrOf()).toContain("only observes")
    expect(await wrapped.here(["wrap", "--manage", "--observe", ...command])).toMatchObject({ code: 2 })
  })

  test.runIf(isWhole)(
    "the figures are those of this run, also where the conversation goes on from an earlier one",
    async () => {
      await using wrapped = await wrapping()
      await wrapped.here(["wrap", "--manage", ...program("3")])
      const before = wrapped.sim.stats().total.dollars
      const { stderr } = await wrapped.here(["wrap", ...program("4")])
      const spent = wrapped.sim.stats().total.dollars - before
      expect(dollarsIn(stderr, /cost/)).toBeCloseTo(spent, 4)
    },
  )

  test.runIf(isWhole)("the exit code is the command's, also for one that is not there or was killed", async () => {
    await using wrapped = await wrapping()
    expect((await wrapped.strata(["wrap", "--", process.execPath, "-e", "process.exit(7)"])).code).toBe(7)
    const missing = await wrapped.here(["wrap", "--", "no-such-program-here"])
    expect(missing).toMatchObject({ code: 127, stderr: expect.stringContaining("not on the PATH") })
    const killed = await wrapped.here(["wrap", "--", process.execPath, "-e", "process.kill(process.pid, 'SIGKILL')"])
    expect(killed.code).toBe(137)
  })

  test.runIf(isWhole).each(["SIGTERM", "SIGINT"] as const)(
    "%s reaches the command, and the report still comes",
    async (signal) => {
      await using wrapped = await wrapping()
      const source = `process.on("${signal}", () => { console.log("got it"); process.exit(5) }); console.log("ready"); setInterval(() => {}, 1000)`
      const running = wrapped.start(strataOf("wrap", "--", process.execPath, "-e", source))
      await running.printed(/ready/)
      running.signal(signal)
      expect(await running.ended).toMatchObject({
        code: 5,
        stdout: "ready\ngot it\n",
        stderr: expect.stringContaining("no request passed"),
      })
    },
  )

  test("only the child's environment has the base URL: no key and no secret in files, output or log", async () => {
    await using wrapped = await wrapping()
    const source = `require("node:fs").writeFileSync(process.env.SAYS, JSON.stringify(process.env))`
    const env = { NO_PROXY: "intranet", HTTPS_PROXY: "http://127.0.0.1:9" }
    const { stdout } = await wrapped.here(["wrap", "--", process.execPath, "-e", source], env)
    const seen = JSON.parse(stdout) as Record<string, string>
    expect(seen.ANTHROPIC_BASE_URL).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{16,}$/)
    expect(seen).toMatchObject({ ENABLE_TOOL_SEARCH: "true", NO_PROXY: "intranet,127.0.0.1,localhost" })
    const key = "sk-very-secret-key"
    const { stderr } = await wrapped.here(["wrap", "--verbose", "--manage", ...program("2")], {
      ANTHROPIC_API_KEY: key,
    })
    expect(stderr).toContain("POST /v1/messages 200")
    const files = globSync("**/*", { cwd: wrapped.home, withFileTypes: true }).filter((file) => file.isFile())
    expect(files.length).toBeGreaterThan(1)
    const kept = files.map((file) => readFileSync(join(file.parentPath, file.name), "utf8")).join("\n")
    for (const text of [kept, stderr]) {
      expect(text).not.toContain(key)
      expect(text).not.toMatch(/127\.0\.0\.1:\d+\/[\w-]{16,}/)
    }
    expect(readdirSync(join(wrapped.home, "proxies"))).toEqual([])
  })

  test("the person's own ENABLE_TOOL_SEARCH stays", async () => {
    await using wrapped = await wrapping()
    const source = `require("node:fs").writeFileSync(process.env.SAYS, process.env.ENABLE_TOOL_SEARCH)`
    const { stdout } = await wrapped.here(["wrap", "--", process.execPath, "-e", source], {
      ENABLE_TOOL_SEARCH: "auto",
    })
    expect(stdout).toBe("auto")
  })

  test.runIf(isWhole)("wrapped inside wrapped: the inner one goes to the server behind the outer one", async () => {
    await using wrapped = await wrapping()
    const inner = strataOf("wrap", "--manage", ...program("2"))
    const { code, stderr } = await wrapped.here(["wrap", "--", ...inner])
    expect(code, stderr).toBe(0)
    expect(wrapped.sim.stats().total.requests).toBe(2)
    expect(stderr).toContain("no request passed")
  })

  test.runIf(isWhole)("STRATA_UPSTREAM and --upstream go before the command's own base URL", async () => {
    await using one = await wrapping()
    await using other = await wrapping()
    const once = ["--manage", ...program("1")]
    await one.here(["wrap", ...once], { STRATA_UPSTREAM: other.sim.url })
    await one.here(["wrap", "--upstream", other.sim.url, ...once], { STRATA_UPSTREAM: one.sim.url })
    expect([one, other].map(({ sim }) => sim.stats().total.requests)).toEqual([0, 2])
    expect(await one.here(["wrap", "--upstream", "nowhere", ...once])).toMatchObject({ code: 2 })
  })

  test.each([
    [["wrap"], /needs claude\|pi\|opencode/],
    [["wrap", "cursor"], /follows two dashes: strata wrap -- cursor/],
    [["wrap", "--mange", "claude"], /Did you mean --manage/],
  ])("%j is answered with a sentence", async (args, sentence) => {
    await using wrapped = await wrapping()
    expect(await wrapped.here(args)).toMatchObject({ code: 2, stderr: expect.stringMatching(sentence) })
    expect(existsSync(join(wrapped.home, "proxies"))).toBe(false)
  })
})
