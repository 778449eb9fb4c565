import type { Message, Usage } from "@strata/core"
import { describe, expect, test } from "vitest"
import { type Calibration, calibrate } from "./calibration.ts"
import { measureRecording } from "./measured-recording.ts"
import { cacheIncidents, runRecordedPolicy } from "./recorded-policy.ts"

const MODEL = "claude-opus-4-6"
const MINUTES = 60_000
const PROMPT = 20_000
const STEP = 1_000 // tokens that each request adds

interface Round {
  readonly read: number
  readonly written?: number
  readonly uncached?: number
  readonly for1h?: boolean
  readonly pauseMinutes?: number
  readonly says?: string
}

/** A conversation whose requests grow by 1,000 tokens each and were billed as given. */
function recording(rounds: readonly Round[], model = MODEL): readonly Message[] {
  let at = Date.parse("2026-01-01T00:00:00Z")
  const messages: Message[] = []
  const push = (message: object) => {
    at += 1_000
    const place = { uuid: `u${messages.length}`, parentUuid: messages.at(-1)?.uuid ?? null }
    messages.push({ ...place, timestamp: new Date(at).toISOString(), ...message } as Message)
  }
  rounds.forEach(({ read, written, uncached = 0, for1h = false, pauseMinutes = 0, says }, i) => {
    at += pauseMinutes * MINUTES
    push({ type: "user", message: { role: "user", content: `${says ?? `Question ${i}.`} ${"word ".repeat(900)}` } })
    const write = written ?? PROMPT + STEP * (i + 1) - read - uncached
    const usage: Usage = {
      input_tokens: uncached,
      output_tokens: 10,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: write,
      ...(write > 0 && for1h ? { cache_creation: { ephemeral_1h_input_tokens: write } } : {}),
    }
    push({ type: "assistant", message: { role: "assistant", id: `r${i}`, model, content: `Answer ${i}.`, usage } })
  })
  return messages
}

const calibrated = (rounds: readonly Round[], model = MODEL): Calibration =>
  calibrate({ entries: recording(rounds, model), model })!

/** Requests that each read the previous one's cache, from the second on. */
const smooth = (count: number, more: Partial<Round> = {}): Round[] =>
  Array.from({ length: count }, (_, i) => ({ read: i === 0 ? 0 : PROMPT + STEP * i, ...more }))

const causesOf = ({ parts }: Calibration) => parts.filter(({ cause }) => cause !== "sizes").map(({ cause }) => cause)

describe("BEY-7 a recording's bill and what the cache model says it cost", () => {
  test("are the same where nothing happened", () => {
    const found = calibrated(smooth(6))
    expect(found).toMatchObject({ unit: "dollars", requests: 6, isWithin5Percent: { expected: true, modelled: true } })
    expect(found.ratios.expected).toBeCloseTo(1, 2)
    expect(causesOf(found)).toEqual([])
  })

  test("count pieces of one response once", () => {
    const entries = recording(smooth(3))
    const piece = { ...entries.at(-1)!, uuid: "piece", parentUuid: entries.at(-1)!.uuid } as Message
    expect(calibrate({ entries: [...entries, piece], model: MODEL })!.bill).toBe(calibrated(smooth(3)).bill)
  })

  test("know the lifetime that was paid for: an hour outlives a pause of 30 minutes, five minutes do not", () => {
    const paused = (for1h: boolean, read: number) => [
      ...smooth(3, { for1h }),
      { read, for1h, pauseMinutes: 30 },
      { read: PROMPT + 4 * STEP, for1h },
    ]
    expect(calibrated(paused(true, PROMPT + 3 * STEP)).ratios.expected).toBeCloseTo(1, 2)
    expect(calibrated(paused(false, 0)).ratios.expected).toBeCloseTo(1, 2)
  })

  test("know a client that does not cache, and a provider that caches by itself", () => {
    const none = Array.from({ length: 4 }, (_, i) => ({ read: 0, written: 0, uncached: PROMPT + STEP * (i + 1) }))
    expect(calibrated(none).ratios.expected).toBe(1)
    const automatic = none.map(({ uncached }, i) => {
      const read = i === 0 ? 0 : Math.floor((uncached - STEP) / 128) * 128
      return { read, written: 0, uncached: uncached - read }
    })
    const found = calibrated(automatic, "gpt-5.5")
    expect(found.unit).toBe("dollars")
    expect(found.ratios.expected).toBeCloseTo(1, 2)
  })

  test("know that the first request can read a prompt which another conversation had cached", () => {
    expect(calibrated([{ read: 15_000 }, ...smooth(4).slice(1)]).ratios.expected).toBeCloseTo(1, 2)
  })

  test.each([
    ["all-lost", [...smooth(4), { read: 0 }]],
    ["prompt-left", [{ read: 15_000 }, ...smooth(4).slice(1), { read: 15_000 }]],
    ["interrupted", [...smooth(4), { read: 0, says: "[Request interrupted by user]" }]],
    ["outlived", [...smooth(4), { read: PROMPT + 4 * STEP, pauseMinutes: 6 }]],
    ["prompt-kept-warm", [{ read: 15_000 }, ...smooth(4).slice(1), { read: 15_000, pauseMinutes: 6 }]],
    ["earlier-breakpoint", [...smooth(4), { read: PROMPT + 4 * STEP, written: 100, uncached: 900 }]],
  ] as const)("differ by a part with a cause: %s", (cause, rounds) => {
    const found = calibrated(rounds)
    expect(causesOf(found)).toEqual([cause])
    const all = found.parts.reduce((sum, { amount }) => sum + amount, 0)
    expect(all).toBeCloseTo(found.bill - found.expected, 9)
    expect(found.ratios.modelled).toBeCloseTo(1, 1)
  })

  test("keep to the rules where an incident would leave nothing near what was read", () => {
    const jump = [...smooth(1), { read: PROMPT + STEP, written: 39_000 }]
    const found = calibrated([...jump, { read: 50_000, written: 11_000 }])
    expect(causesOf(found)).toEqual(["part-left"])
    expect(found.modelled).toBe(found.expected)
  })

  test("say how much of the bill has no explanation", () => {
    expect(calibrated([...smooth(4), { read: 0 }]).unexplained).toBeGreaterThan(0.2)
    expect(calibrated([...smooth(4), { read: PROMPT + 4 * STEP, pauseMinutes: 6 }]).unexplained).toBeLessThan(0.01)
  })

  test("are not compared where nothing was billed", () => {
    expect(calibrate({ entries: recording([]), model: MODEL })).toBeUndefined()
  })

  test("differ by incidents that other policies meet at the same requests", () => {
    const measured = measureRecording({ entries: recording([...smooth(4), { read: 0 }]), model: MODEL })
    expect(cacheIncidents(measured)).toEqual(new Map([[4, { kind: "lost", kept: "nothing", upTo: 0 }]]))
    expect(runRecordedPolicy(measured).map(({ modelled }) => modelled.cacheRead)[4]).toBe(0)
  })
})
