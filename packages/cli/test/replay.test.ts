/** `strata replay`, `strata compare` and the pages, inside the test. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { ALL_POLICIES } from "@strata/transcripts/replay"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { conversation } from "../../core/test/builders.ts"
import { isWhole, size } from "../../core/test/size.ts"
import { workload } from "../../core/test/workloads.ts"
import { formatDollars } from "../src/display/numbers.ts"
import { strataHere } from "./strata-here.ts"
import { emptyPlace, type Place } from "./strata-process.ts"

let place: Place
beforeAll(() => {
  place = emptyPlace()
  mkdirSync(place.cwd, { recursive: true })
})
afterAll(() => place.remove())
const run = (...args: string[]) => strataHere(args, place)
const read = (file: string) => readFileSync(join(place.cwd, file), "utf8")

const SMALL = ["--generate", "50000", "--window", "40000"]
const widest = (text: string) => Math.max(...text.split("\n").map((line) => line.length))

/** A Claude Code transcript with names that are dangerous in a page. */
function hostileTranscript(name: string): string {
  const bad = `<script>alert("${name}")</script>\u202e`
  const { messages } = conversation()
    .user(`Look at ${bad}`)
    .call(bad, { file_path: bad }, { model: bad, usage: { input_tokens: 900, output_tokens: 9 } })
    .result("x".repeat(400))
    .say("Done.", { model: bad, usage: { input_tokens: 1_200, output_tokens: 9 } })
  const file = join(place.cwd, `${name} <b onclick="x">.jsonl`)
  const lines = messages.map((message) => JSON.stringify({ sessionId: "s", version: "2.1.0", cwd: bad, ...message }))
  writeFileSync(file, `${lines.join("\n")}\n`)
  return file
}

describe("BEY-7 strata replay", () => {
  it("reports what the policy did, what it cost and what it lost, within 80 columns", async () => {
    const { code, stdout, stderr } = await run("replay", ...SMALL, "--policy", "claude-style", "--turns")
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    for (const part of [
      "Policy claude-style:",
      "Context over turns",
      "compacted before turn",
      "less than sending everything",
      "summaries",
      "read from cache",
      "the context had reached its threshold",
      "were in view",
      "are present verbatim",
      "Turn by turn",
    ])
      expect(stdout).toContain(part)
    expect(widest(stdout)).toBeLessThanOrEqual(80)
  })

  it("writes the same as a page: one course with its charts, and nothing of a hostile transcript runs", async () => {
    const { code, stderr } = await run("replay", ...SMALL, hostileTranscript("paged"), "--html", "replayed.html")
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("replayed.html") })
    const page = read("replayed.html")
    for (const part of ["replayed with the policy strata", "Context over turns, by class", "compared with none"])
      expect(page).toContain(part)
    expect(page).not.toContain("<script")
    expect(page).not.toContain("\u202e")
  })

  it("says how close its model is to what a recording was billed", async () => {
    const file = hostileTranscript("billed")
    const { stdout } = await run("replay", file)
    expect(stdout).toMatch(/The recorded requests were billed \S+ tokens\. The replay computes/)
    expect((await run("replay", file, "--model", "claude-opus-5-5")).stdout).not.toContain("were billed")
  })

  /** Work with a pause of 90 minutes before its end. */
  function transcriptWithPause(length: number, result = 12_000): string {
    const rounds = Array.from({ length }, (_, i) => ({
      tool: "Read",
      result,
      pauseMinutes: i === length - 2 ? 90 : 0,
    }))
    const lines = workload(rounds, { model: "claude-opus-4-6" }).map((each) =>
      JSON.stringify({ sessionId: "s", version: "2.1.0", ...each }),
    )
    const file = join(place.cwd, `away-${length}.jsonl`)
    writeFileSync(file, `${lines.join("\n")}\n`)
    return file
  }

  it.runIf(isWhole)("does not take a request that keeps the cache warm for one for a summary", async () => {
    const { stdout } = await run("replay", transcriptWithPause(size(150, 300), 300)) // long enough for a cost
    expect(stdout).toContain("keeping the cache warm")
    expect(stdout).toContain("no wait for a summary")
    expect(stdout).not.toContain("with the request for a summary")
  })

  it.runIf(isWhole)("counts the summaries that someone waited for: optimum needs none in a cold cache", async () => {
    const transcript = transcriptWithPause(60)
    const { stdout } = await run("replay", transcript, "--policy", "optimum")
    const compactions = stdout.match(/compacted before turn/g)?.length ?? 0
    const [, requests] = stdout.match(/^ {2}summaries +(\d+)/m)!
    expect(Number(requests)).toBeLessThan(compactions)
    expect(stdout).toContain("no wait for a summary")
    const fixed = await run("replay", transcript, "--policy", "claude-style", "--window", "100000")
    const [, asked] = fixed.stdout.match(/^ {2}summaries +(\d+)/m)!
    expect(fixed.stdout).toMatch(new RegExp(`of\\s+waiting\\s+for\\s+${asked}\\s+summar`))
  })

  it("says so where there is nothing to replay", async () => {
    const file = join(place.cwd, "silent.jsonl")
    const [message] = conversation().user("Hello?").messages
    writeFileSync(file, `${JSON.stringify({ sessionId: "s", version: "2.1.0", ...message })}\n`)
    const { code, stdout } = await run("replay", file)
    expect(code).toBe(0)
    expect(stdout).toContain("There is nothing to replay: the conversation has no answers of a model.")
    const compared = await run("compare", file, "--policies", "none")
    expect(compared.stdout).toContain("There is nothing to replay: the conversation has no answers of a model.")
    expect(stdout).not.toContain("Cost")
  })

  it("names what to do with a compressed file", async () => {
    const file = join(place.cwd, "packed.jsonl.gz")
    writeFileSync(file, gzipSync("{}"))
    const { code, stderr } = await run("replay", file)
    expect(code).toBe(2)
    expect(stderr).toContain("packed.jsonl.gz is compressed. Unpack it with gunzip, then name the unpacked file.")
  })

  it("prints every request as JSON", async () => {
    const { stdout } = await run("replay", ...SMALL, "--policy", "none", "--json")
    const [found] = JSON.parse(stdout).conversations
    expect(found).toMatchObject({ format: "generated", policy: "none", model: "claude-opus-5-5" })
    expect(found.requests).toHaveLength(found.totals.requests)
  })

  it.each([
    [
      ["replay", "--generate", "1000", "--policy", "stratta"],
      'There is no policy "stratta". Did you mean strata? The policies are none, ',
    ],
    [["compare", "--generate", "1000", "--policies", "none,nine"], 'There is no policy "nine". '],
    [["compare", "--generate", "1000", "--policies", ","], "--policies needs at least one name"],
    [["replay"], "strata replay needs FILE…, or --generate N."],
    [["replay", "nothing.jsonl"], "The file nothing.jsonl does not exist."],
    [["replay", "nothing*.jsonl"], "No file matches nothing*.jsonl."],
    [["compare", "--generate", "1000", "--html", "."], ". is a directory. Name a file in it"],
    [["compare", "--generate", "1000", "--html", "no/page.html"], "The directory no does not exist."],
  ])("answers %j with a sentence and exit code 2", async (args, sentence) => {
    const { code, stdout, stderr } = await run(...args)
    expect([code, stdout]).toEqual([2, ""])
    expect(stderr).toContain(sentence)
  })
})

describe("BEY-7 strata compare", () => {
  it.each(["replay", "compare"])("%s --help lists all policies", async (name) => {
    const { stdout } = await run(name, "--help")
    const [, list] = stdout.match(/\nPolicies\n(.*?)\n\n/s)!
    const names = [...list!.matchAll(/^ {2}(\S+)/gm)].map(([, each]) => each)
    expect(names).toEqual(ALL_POLICIES.map((policy) => policy.name))
  })

  it("prints a scorecard with the references, and writes one page that loads nothing", async () => {
    const hostile = hostileTranscript("names")
    const args = ["compare", ...SMALL, hostile, "--policies", "strata", "--html", "page.html"]
    const { code, stdout, stderr } = await run(...args)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^none +.*\nclaude-style +/m)
    expect(stdout).toMatch(/^strata +/m)
    expect(stdout).toContain("in view: of the names that answers used again, those in view.")
    expect(stdout).toMatch(/^conversation +turns +none +strata +cheapest +optimum$/m)
    expect(stdout).not.toMatch(/[\dKM] +optimum +/) // the oracle is not a policy that can be chosen
    expect(widest(stdout)).toBeLessThanOrEqual(80)
    expect(stderr).toMatch(/^Wrote .*page\.html \(.*bytes\)\. Open it in a browser\.\n$/)
    const page = read("page.html")
    expect(page).toContain("default-src 'none'")
    expect(page).not.toMatch(/<script|<link|<img|<iframe|src=|url\(|@import|https?:/i)
    expect(page).not.toContain("\u202e")
    expect(page).not.toContain("<b onclick")
    expect(page).toContain("&lt;script&gt;")
    expect(page).toContain("&lt;b onclick=&quot;x&quot;&gt;")
    expect(page).toContain("not broken down") // optimum has sizes only
  })

  it("has the same scorecard and all replays as JSON", async () => {
    const { stdout } = await run("compare", ...SMALL, "--policies", "none", "--json")
    const { scorecard, conversations } = JSON.parse(stdout)
    expect(scorecard.scores.map(({ policy }: { policy: string }) => policy)).toContain("claude-style")
    expect(scorecard.scores[0]).toMatchObject({
      policy: "none",
      relative: { none: 1 },
      processingMs: expect.any(Number),
    })
    expect(conversations[0].reports[0].requests.length).toBeGreaterThan(10)
  })

  it("compares what it can read, and says so if that is nothing", async () => {
    const silent = await run("compare", "plain.txt", "nothing.jsonl", "--html", "none.html")
    expect([silent.code, silent.stdout]).toEqual([1, ""])
    expect(silent.stderr).toMatch(/There is nothing to compare: none of the 2 files could be read\.\n$/)
    expect(existsSync(join(place.cwd, "none.html"))).toBe(false)
    const torn = hostileTranscript("torn")
    writeFileSync(torn, readFileSync(torn, "utf8").slice(0, -20))
    const some = await run("compare", "plain.txt", torn, "--policies", "none")
    expect(some.code).toBe(1)
    expect(some.stdout.replaceAll("\n", " ")).toContain("Lines that were not understood are left out.")
  })

  it("replaces an earlier page, and no other file", async () => {
    const hostile = hostileTranscript("kept")
    const before = readFileSync(hostile, "utf8")
    const refused = await run("inspect", hostile, "--html", hostile)
    expect(refused).toMatchObject({ code: 2, stdout: "" })
    expect(refused.stderr).toContain("is not a page of Strata. Nothing was written")
    expect(readFileSync(hostile, "utf8")).toBe(before)
    for (const _ of [1, 2]) expect((await run("inspect", hostile, "--html", "again.html")).code).toBe(0)
  })
})

describe("BEY-7 strata inspect --html", () => {
  it("shows a conversation as it was recorded, with its classes and what was paid", async () => {
    const usage = (read: number, written: number) => ({
      input_tokens: 3,
      output_tokens: 40,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: written,
    })
    const model = "claude-opus-4-6"
    const { messages } = conversation()
      .user("Look around, please.")
      .call("Bash", { command: "ls" }, { model, usage: usage(0, 20_000) })
      .result("a.ts\nb.ts ".repeat(100))
      .say("I have seen it.", { model, usage: usage(20_000, 1_200) })
      .boundary()
      .user("What was said so far: nothing much.", { isCompactSummary: true })
      .say("Well.", { model, usage: usage(0, 18_500) })
    const lines = messages.map((message) => JSON.stringify({ sessionId: "s", version: "2.1.0", ...message }))
    const file = join(place.cwd, "recorded.jsonl")
    writeFileSync(file, `${lines.join("\n")}\n`)
    const { code, stdout } = await run("inspect", file, "--html", "recorded.html")
    expect(code).toBe(0)
    expect(stdout).toContain("recorded.jsonl") // the report is printed as well
    const page = read("recorded.html")
    for (const part of ["compacted before turn 3", 'class="c-results"', 'class="c-summary"', "tokens written again"])
      expect(page).toContain(part)
    const { stdout: json } = await run("inspect", file, "--json")
    expect(page).toContain(formatDollars(JSON.parse(json).conversations[0].money.dollars))
  })
})
