/** BEY-7: the behavior of the policies, and the cost of forgetting. */
import type { AssistantMessage, Usage } from "@strata/core"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { conversation } from "../../../../core/test/builders.ts"
import { isWhole, size } from "../../../../core/test/size.ts"
import { type WorkRound, workload } from "../../../../core/test/workloads.ts"
import { measureRecording } from "../measured-recording.ts"
import { type ReplayInput, type ReplayReport, replay } from "../replay.ts"
import { ALL_POLICIES } from "./all.ts"
import { layered } from "./layered.ts"
import { none } from "./none.ts"
import { strata } from "./strata.ts"

const MODEL = "claude-opus-4-6"
const LARGE = 12_000 // characters, about 3,000 tokens
const many = (count: number, round: Partial<WorkRound> = {}): WorkRound[] =>
  Array.from({ length: count }, () => ({ tool: "Read", result: LARGE, ...round }))

const ECONOMY = layered({ ...strata, name: "economy", settings: { planner: "economy" } })
const quick = (count: number) => many(count, { result: 200 })

async function reports(rounds: readonly WorkRound[], input: ReplayInput = {}) {
  const found = await replay({ entries: workload(rounds, { model: MODEL }), model: MODEL }, input)
  return Object.fromEntries(found.reports.map((report) => [report.policy, report])) as Record<string, ReplayReport>
}

/** The rounds with the usage of a client that sends everything and caches it for `lifeMinutes`. */
function billed(rounds: readonly { readonly result: number; readonly pauseMinutes: number }[], lifeMinutes: number) {
  let context = 20_000
  return rounds.map((round, i): WorkRound => {
    const isWarm = i > 0 && rounds[i - 1]!.pauseMinutes < lifeMinutes
    const fresh = 100 + Math.ceil((rounds[i - 1]?.result ?? 0) / 4)
    const [read, written] = isWarm ? [context, fresh] : [0, context + fresh]
    context += fresh
    const usage: Usage = {
      ...{ input_tokens: 3, output_tokens: 60, cache_read_input_tokens: read, cache_creation_input_tokens: written },
      cache_creation: {
        ephemeral_5m_input_tokens: lifeMinutes === 5 ? written : 0,
        ephemeral_1h_input_tokens: lifeMinutes === 5 ? 0 : written,
      },
    }
    return { tool: "Read", ...round, usage }
  })
}

describe("BEY-7 the policies", () => {
  test("each says what it models, and all replay the same work within its window", async () => {
    const found = await reports(many(size(36, 90)), { window: size(60_000, 100_000) })
    expect(Object.keys(found)).toEqual(ALL_POLICIES.map(({ name }) => name))
    for (const [name, { about, totals, failures }] of Object.entries(found)) {
      expect(about).toMatch(/^[A-Z].*\.$/)
      expect(failures).toEqual([])
      // strata works on one task all the time, and clears enough
      if (!["none", "masking", "hybrid", "clear-3", "strata", "optimum"].includes(name))
        expect([name, totals.compactions]).not.toEqual([name, 0])
      if (name !== "none") expect([name, totals.invalid]).toEqual([name, 0])
    }
    expect(found.none!.totals.invalid).toBeGreaterThan(size(10, 50))
    for (const report of [found.strata!, found["tail-20k"]!]) {
      const sent = report.requests.filter(({ purpose }) => purpose === "conversation")
      for (const { turn, tokens } of report.actions.filter(({ kind }) => kind === "compacted")) {
        expect(tokens).toBe(sent[turn - 2]!.context - sent[turn - 1]!.context)
      }
      for (const { turn, tokens } of report.losses)
        expect(tokens).toBeLessThanOrEqual(sent[turn - 1]!.context - sent[turn - 1]!.counts.cacheRead)
    }
  })

  test("fixed thresholds clear after a long pause, and say so", async () => {
    const policies = ALL_POLICIES.filter(({ name }) => name === "claude-style")
    const found = await reports([...many(8), ...many(1, { pauseMinutes: 70 }), ...many(1)], { policies })
    expect(found["claude-style"]!.actions).toMatchObject([{ kind: "cleared", why: "a long pause: the cache was gone" }])
  })

  test.runIf(isWhole)("nothing is cheaper than the optimum, and strata is cheaper than fixed thresholds", async () => {
    const found = await reports(many(size(56, 80)), { policies: [...ALL_POLICIES, ECONOMY] })
    const cost = (name: string) => found[name]!.totals.dollars!
    const updates = new Set(["economy", "strata"]) // updating notes is cheaper than the complete summaries of the bound
    const whole = Object.keys(found).filter((name) => !updates.has(name))
    for (const name of whole) expect(cost("optimum")).toBeLessThanOrEqual(cost(name))
    for (const name of updates) expect(cost("optimum")).toBeLessThanOrEqual(1.02 * cost(name))
    expect(cost("economy")).toBeLessThan(cost("claude-style"))
    expect(cost("economy")).toBeLessThan(cost("none") * 0.9)
    expect(found.economy!.actions.filter(({ kind }) => kind === "compacted").length).toBeGreaterThan(1)
    expect(found.economy!.totals.blockedMs).toBe(0)
  })

  test("in a conversation too short for the cache, the optimum is to send everything", async () => {
    const policies = ALL_POLICIES.filter(({ name }) => name === "none" || name === "optimum")
    const entries = conversation().user("Hello.").say("Hello to you.").messages
    const { reports: found } = await replay({ entries, model: MODEL }, { policies })
    expect(found[1]!.totals.dollars).toBe(found[0]!.totals.dollars)
  })

  test.runIf(isWhole)(
    "no policy that only compacts is cheaper than the optimum, whatever the pauses, the sizes and the lifetime of the cache",
    async () => {
      const names = ["none", "claude-style", "half-30", "user-words", "optimum"]
      const policies = ALL_POLICIES.filter(({ name }) => names.includes(name))
      const round = fc.record({
        result: fc.integer({ min: 500, max: 40_000 }),
        pauseMinutes: fc.oneof({ weight: 4, arbitrary: fc.constant(0.2) }, fc.integer({ min: 1, max: 90 })),
      })
      const work = fc.array(round, { minLength: 12, maxLength: 30 })
      const property = fc.asyncProperty(work, fc.constantFrom(5, 60), async (rounds, lifeMinutes) => {
        const found = await reports(billed(rounds, lifeMinutes), { window: 100_000, policies })
        for (const name of names)
          expect(found[name]!.totals.dollars!).toBeGreaterThanOrEqual(found.optimum!.totals.dollars!)
      })
      await fc.assert(property, { numRuns: 3, seed: 17, endOnFailure: true })
    },
  )

  test.runIf(isWhole)(
    "a summary costs the output of a summary, not the messages that a policy copies after it",
    async () => {
      const work = many(14).reduce(
        (built, _, i) =>
          built
            .user(`${i} ${"Keep every word of this. ".repeat(400)}`)
            .call("Read", {})
            .result("z ".repeat(6_000)),
        conversation(),
      )
      const policies = ALL_POLICIES.filter(({ name }) => name === "user-words" || name === "strata")
      const found = await replay({ entries: work.say("Done.").messages, model: MODEL }, { policies, window: 60_000 })
      const summaries = found.reports.flatMap(({ requests }) => requests.filter(({ purpose }) => purpose === "summary"))
      expect(summaries.length).toBeGreaterThan(1)
      for (const { counts } of summaries) expect(counts.output).toBeLessThanOrEqual(4_000)
    },
  )

  test.runIf(isWhole)("a request for notes reads the cache, also where the server had cleared results", async () => {
    const work = Array.from({ length: 50 }, (_, i) => ({ result: 2_000 + ((i * 7_919) % 23_000), pauseMinutes: 0.2 }))
    const { economy } = await reports(billed(work, 5), { window: 100_000, policies: [ECONOMY] })
    const cleared = economy!.actions.find(({ kind }) => kind === "cleared by the server")!
    const next = economy!.requests.find(({ purpose, turn }) => purpose === "notes" && turn > cleared.turn)!
    expect(next.counts.cacheRead).toBeGreaterThan(0.7 * next.context)
  })

  test.runIf(isWhole)("keeping the cache warm reads it", async () => {
    const work = [...many(12), ...quick(150), ...many(1, { pauseMinutes: 12 }), ...many(1)]
    const { strata } = await reports(work, { policies: ALL_POLICIES.filter(({ name }) => name === "strata") })
    const ping = strata!.requests.find(({ purpose }) => purpose === "keep-warm")!
    expect(ping.counts.cacheRead).toBeGreaterThan(0.95 * ping.context)
  })

  test.runIf(isWhole)(
    "a pause of 50 minutes is bridged by one request that keeps the cache warm, one of 70 is not",
    async () => {
      const pauses = async (pauseMinutes: number) => {
        const work = [...many(12), ...quick(150), ...many(1, { pauseMinutes }), ...quick(4)]
        const { strata } = await reports(work, { policies: ALL_POLICIES.filter(({ name }) => name === "strata") })
        const turns = strata!.requests.filter(({ purpose }) => purpose === "keep-warm").map(({ turn }) => turn)
        const last = strata!.requests.at(-1)!.turn
        return {
          pings: turns.filter((turn) => turn < last).length,
          lost: strata!.losses.some(({ why }) => why === "pause"),
        }
      }
      if (isWhole) expect(await pauses(3)).toEqual({ pings: 0, lost: false })
      if (isWhole) expect(await pauses(12)).toEqual({ pings: 1, lost: false })
      expect(await pauses(50)).toEqual({ pings: 1, lost: false })
      expect(await pauses(70)).toEqual({ pings: 1, lost: true })
    },
  )

  test.runIf(isWhole)(
    "BEY-4 ours compacts in a pause with notes from the warm cache, and is charged also where no one comes back",
    async () => {
      const user = (text: string) => ({ ...conversation().user(text).messages[0]! })
      const long = [...many(30, { tool: "Agent" }), ...quick(120)]
      const after = workload(long, { model: MODEL })
      const at = (minutes: number) => new Date(Date.parse(after.at(-1)!.timestamp) + minutes * 60_000).toISOString()
      const asked = { ...user("And now?"), uuid: "asked", timestamp: at(1) }
      const answered = (id: string, minutes: number) => ({
        ...conversation().say("Well.", { model: MODEL, id }).messages[0]!,
        uuid: id,
        timestamp: at(minutes),
      })
      const again = { ...user("Go on."), uuid: "again", timestamp: at(32) }
      const policies = ALL_POLICIES.filter(({ name }) => name === "strata")
      const run = async (entries: readonly unknown[]) =>
        (await replay({ entries: entries as typeof after, model: MODEL }, { policies })).reports[0]!
      const left = await run([...after, asked, answered("a1", 2)])
      expect(left.compactions).toEqual([])
      expect(left.requests.filter(({ purpose }) => purpose === "notes")).toHaveLength(1)
      const back = await run([...after, asked, answered("a1", 2), again, answered("a2", 33)])
      expect(back.compactions).toMatchObject([{ opening: "pause", waitedMs: 0 }])
      const [notes] = back.requests.filter(({ purpose }) => purpose === "notes")
      expect(notes!.counts.cacheRead).toBeGreaterThan(0.9 * notes!.context)
    },
  )
})

test.runIf(isWhole)("BEY-4 strata shows files again after a compaction, as the recording has them", async () => {
  const work = Array.from({ length: 24 }).reduce<ReturnType<typeof conversation>>(
    (built, _, i) =>
      built
        .call("Read", { file_path: `/p/f${i}.ts` }, { usage: { input_tokens: 20_000 + i * 5_000, output_tokens: 40 } })
        .result(Array.from({ length: 300 }, (_, line) => `${line + 1}\tthe line ${line} of file ${i}`).join("\n")),
    conversation().user("Read everything."),
  )
  const shown: string[] = []
  const watched = layered({
    ...strata,
    settings: { planner: "off", switches: { "compact-ahead": false, "clear-by-api": false, "clear-by-size": false } },
    layers: (parts) =>
      strata.layers(parts).map((layer) => ({
        ...layer,
        async beforeRequest(context) {
          const outcome = await layer.beforeRequest?.(context)
          for (const draft of outcome?.drafts ?? [])
            if (draft.type === "attachment" && draft.attachment.type === "file") shown.push(draft.attachment.content)
          return outcome
        },
      })),
  })
  const recording = measureRecording({ entries: work.say("Done.").messages, model: MODEL })
  const { failures, contexts } = await watched.run(recording, { window: 100_000, summarySeconds: 0 })
  expect(failures).toEqual([])
  expect(contexts.length).toBeGreaterThan(0)
  expect(shown.length).toBeGreaterThan(0)
  for (const content of shown) expect(content).toMatch(/^ +1\tthe line 0 of file \d+\n/)
})

describe("BEY-7 forgetting costs", () => {
  const secret = "buildToken_7731"
  const usage = (input: number) => ({ input_tokens: input, output_tokens: 40 })
  const work = many(14).reduce(
    (built, _, i) =>
      built
        .call("Read", { file_path: `f${i}.ts` }, { usage: usage(20_000 + i * 3_000) })
        .result(i === 0 ? `the token is ${secret}\n${"x ".repeat(2_000)}` : "y ".repeat(4_000)),
    conversation().user("Find the token, read everything else, then say it."),
  )
  const entries = work.say(`It is ${secret}.`, { usage: usage(70_000) }).messages

  test("a name that an answer uses and the view has lost is fetched: one request, and its block", async () => {
    const found = await replay(
      { entries, model: MODEL },
      { policies: ALL_POLICIES.filter(({ name }) => name === "masking" || name === "none") },
    )
    const [none, masking] = found.reports as readonly [ReplayReport, ReplayReport]
    expect(none.usedAgain).toMatchObject({ inView: none.usedAgain.names, fetched: 0 })
    expect(masking.usedAgain).toMatchObject({ inView: masking.usedAgain.names - 1, fetched: 1 })
    expect(masking.requests.filter(({ purpose }) => purpose === "recall")).toHaveLength(1)
    expect(masking.usedAgain.fetchedTokens).toBeGreaterThan(1_000)
    expect(masking.totals.byPurpose.recall).toBeGreaterThan(0)
  })

  test("L1-2 an offloaded result is read again where an answer uses what its preview lacks: one request, and all of it", async () => {
    const lines = (from: number) =>
      Array.from({ length: 1_000 }, (_, i) => `the line ${from + i} of a long log`).join("\n")
    const log = `opened by firstName_1\n${lines(0)}\nthen middleName_2 failed\n${lines(1_000)}\nclosed by lastName_3`
    const answers = [
      "It begins with firstName_1, and ends with lastName_3.",
      "The cause is middleName_2.",
      "Yes, middleName_2.",
    ]
    const cached = (read: number, written: number) => ({
      ...usage(3),
      ...{ cache_read_input_tokens: read, cache_creation_input_tokens: written },
    })
    const built = answers.reduce(
      (work, answer, i) =>
        work.say(answer, { usage: i === 0 ? cached(20_000, 25_000) : cached(45_000, i * 100) }).user("Are you sure?"),
      conversation()
        .user("Run it.")
        .call("Bash", { command: "run" }, { usage: cached(0, 20_000) })
        .result(log),
    )
    const aside = (readsFiles: boolean) =>
      layered({ ...none, name: `reads files: ${readsFiles}`, figures: { "tool-result-limit": 16_000 }, readsFiles })
    const { reports: found } = await replay(
      { entries: built.messages, model: MODEL },
      { policies: [none, aside(true), aside(false)] },
    )
    const [everything, read, recalled] = found as readonly [ReplayReport, ReplayReport, ReplayReport]
    expect(everything.usedAgain).toMatchObject({ fetched: 0, readAgain: 0 })
    expect(read.usedAgain).toMatchObject({ inView: read.usedAgain.names - 1, fetched: 1, readAgain: 1 })
    expect(recalled.usedAgain).toMatchObject({ fetched: 1, readAgain: 0 })
    const asked = read.requests.filter(({ purpose }) => purpose === "recall")
    expect(asked).toHaveLength(1)
    expect(asked[0]!.counts.cacheRead).toBeGreaterThan(0.9 * asked[0]!.context) // earlier messages are cached
    expect(read.usedAgain.fetchedTokens).toBeGreaterThan(2 * recalled.usedAgain.fetchedTokens)
    const [, , afterwards] = read.requests.filter(({ purpose }) => purpose === "conversation")
    expect(afterwards!.context - asked[0]!.context).toBeGreaterThanOrEqual(read.usedAgain.fetchedTokens)
  })

  test("a name that the recorded request did not show either was not needed", async () => {
    const [last, ...before] = entries.toReversed()
    const [boundary, summary] = conversation().boundary().user("Files were read.", { isCompactSummary: true }).messages
    const compacted = [...before.toReversed(), { ...boundary!, uuid: "b" }, { ...summary!, uuid: "s" }, last!]
    const policies = ALL_POLICIES.filter(({ name }) => name === "masking")
    const { reports: found } = await replay({ entries: compacted, model: MODEL }, { policies })
    expect(found[0]!.usedAgain).toMatchObject({ fetched: 0 })
  })

  test("an answer in several entries does not need its own words", async () => {
    const [first, ...rest] = conversation()
      .user("Look for it.")
      .call("Grep", { pattern: "renderTotal" }, { usage: usage(20_000) })
      .result("nothing").messages
    const answer = rest[0] as AssistantMessage
    const words = { ...answer, uuid: "words", message: { ...answer.message, content: "I look for renderTotal." } }
    const split = [first!, words, { ...answer, parentUuid: "words" }, ...rest.slice(1)]
    const found = await replay({ entries: split, model: MODEL }, { policies: [none] })
    expect(found.reports[0]!.usedAgain).toMatchObject({ names: 0, fetched: 0 })
  })
})
