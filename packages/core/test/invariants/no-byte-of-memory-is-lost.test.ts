/**
 * Invariant 7: the bytes in memory files before a dream are in the files after it or in the archive. Over random memories, random dreams
 * that change, empty, add and supersede, concurrent manual edits, and dreams that are killed at a random step.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import fc from "fast-check"
import { expect, test } from "vitest"
import type { DreamStep } from "../../src/layers/6-dreaming/dream.ts"
import { changeFiles, dreamProject, FIGURES, filesBelow, memoriesIn, memoryText } from "../dreams.ts"
import { fuzz, RUNS } from "../runs.ts"
import { isWhole } from "../size.ts"

const STEPS: readonly DreamStep[] = ["locked", "copied", "consolidated", "checked", "installed", "released"]
const names = fc.constantFrom("alpha", "beta", "gamma", "delta", "epsilon", "zeta")
const file = names.map((name) => `${name}.md`)
const body = fc.array(fc.constantFrom("harbour", "lantern", "meadow", "[see](beta.md)", "The port is 80.", "\n"), {
  minLength: 1,
  maxLength: 12,
})
const keys = fc.record(
  {
    confirmed: fc.constantFrom("2026-01-01", "2026-02-01", "2026-03-01"),
    supersedes: fc.array(file, { maxLength: 2 }),
    "superseded-by": file,
    type: fc.constantFrom("project", "feedback", "user", "reference"),
    source: fc.constantFrom({ "said-by": "user" }, { "said-by": "tool" }, { "said-by": "agent" }),
  },
  { requiredKeys: [] },
)
const text = fc.oneof(
  fc.record({ name: names, body, keys }).map((one) => memoryText(one.name, one.body.join(" "), one.keys)),
  body.map((lines) => lines.join("\n")), // as a user may write it manually
  fc.constant("---\nnot: [closed\n---\nText.\n"),
)
const index = fc
  .array(fc.oneof(file, fc.constant("gone.md")), { maxLength: 5 })
  .map((files) => files.map((one) => `- [${one}](${one})`).join("\n"))
const texts = fc.dictionary(
  fc.oneof({ weight: 8, arbitrary: file }, { weight: 1, arbitrary: fc.constant("MEMORY.md") }),
  fc.oneof(text, index),
)
const dream = fc.record({
  changes: fc.dictionary(file, fc.option(text, { nil: undefined, freq: 3 })),
  byHand: fc.dictionary(file, text, { maxKeys: 1 }),
  stopAt: fc.option(fc.constantFrom(...STEPS)),
  accepts: fc.boolean(),
})

class Stopped extends Error {}

test("L6-7 no byte of memory is lost: all of it is in the files after a dream, or in the archive", async () => {
  await fc.assert(
    fc.asyncProperty(texts, fc.array(dream, { minLength: 1, maxLength: 3 }), async (start, dreams) => {
      const root = mkdtempSync(join(tmpdir(), "strata-dreams-"))
      try {
        const at = dreamProject(root)
        at.write(start)
        await at.bank.all()
        const seen = new Set(memoriesIn(at.everything()).values())
        for (const { changes, byHand, stopAt, accepts } of dreams) {
          let edited: Readonly<Record<string, string>> = {}
          const dreaming = at.dreaming(
            async (task) => {
              at.write(byHand)
              edited = byHand
              for (const one of Object.values(byHand)) seen.add(one)
              return changeFiles(() => changes)(task)
            },
            {
              atStep(step) {
                if (step === stopAt) throw new Stopped(step)
              },
            },
          )
          await at.bank.all()
          const before = at.everything()
          const end = await dreaming.dream({ figures: FIGURES, force: true }).catch((error: unknown) => {
            if (!(error instanceof Stopped)) throw error
            return undefined
          })
          if (end?.state === "pending" && accepts) await dreaming.accept()
          const after = at.everything()
          if (end !== undefined && !["installed", "pending"].includes(end.state) && stopAt !== "installed")
            expect(topicsIn(after)).toEqual(new Map([...topicsIn(before), ...Object.entries(edited)]))
          const kept = new Set([...after].filter(([path]) => isKept(path)).map(([, one]) => one))
          for (const one of seen) expect(kept).toContain(one)
          for (const one of memoriesIn(after).values()) seen.add(one)
          expect(
            filesBelow(join(at.directory, ".."))
              .keys()
              .filter((path) => path.includes("copies"))
              .toArray(),
          ).toEqual([])
        }
      } finally {
        rmSync(root, { recursive: true, force: true })
      }
    }),
    { ...fuzz, numRuns: Math.ceil(RUNS / 50) }, // each writes some hundred files
  )
})

const LOOP = fileURLToPath(new URL("../dream-loop.ts", import.meta.url))
const MAX_LIFE_MS = 400 // several dreams

/** Runs a process that dreams, and kills it this many milliseconds after its first dream began. */
async function killedAfter(milliseconds: number, { root, seed }: { root: string; seed: number }): Promise<void> {
  const child = spawn(process.execPath, [LOOP, root, String(seed)], { stdio: ["ignore", "pipe", "inherit"] })
  const exit = once(child, "exit")
  await once(child.stdout, "data")
  const timer = setTimeout(() => child.kill("SIGKILL"), milliseconds)
  const [code, signal] = await exit
  clearTimeout(timer)
  expect({ code, signal }).toEqual({ code: null, signal: "SIGKILL" })
}

test.runIf(isWhole)(
  "L6-7 L6-5 no byte of memory is lost when the process is killed at a random moment, again and again",
  async () => {
    const kill = fc.record({
      after: fc.integer({ min: 0, max: MAX_LIFE_MS }),
      seed: fc.integer({ min: 1, max: 1e6 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(kill, { minLength: 2, maxLength: 3 }), async (kills) => {
        const root = mkdtempSync(join(tmpdir(), "strata-kills-"))
        try {
          const at = dreamProject(root)
          const names = Array.from({ length: 10 }, (_, number) => `m${number}`)
          at.write(Object.fromEntries(names.map((name) => [`${name}.md`, memoryText(name, `${name} of the start.`)])))
          await at.bank.all()
          const seen = new Set(memoriesIn(at.everything()).values())
          for (const { after, seed } of kills) {
            await killedAfter(after, { root, seed })
            await at.bank.all() // any reader completes an interrupted change
            expect(await at.bank.problems()).toEqual([])
            const left = at.everything()
            const kept = new Set([...left].filter(([path]) => isKept(path)).map(([, one]) => one))
            for (const one of seen) expect(kept).toContain(one)
            for (const one of memoriesIn(left).values()) seen.add(one)
            const changes = await at.bank.history()
            // half a change would look like a manual edit
            expect(changes.slice(1).map(({ by }) => by)).toEqual(changes.slice(1).map(() => "dream"))
          }
          const last = await at.dreaming(changeFiles(() => ({}))).dream({ figures: FIGURES, force: true })
          expect(last.state).not.toBe("skipped") // the lock of the killed process was taken over
        } finally {
          rmSync(root, { recursive: true, force: true })
        }
      }),
      { ...fuzz, numRuns: Math.ceil(RUNS / 500) }, // each starts processes
    )
  },
)

/** The memories, the archive, and the copies of earlier texts. */
const isKept = (path: string) =>
  path.startsWith("archive/") || path.startsWith(".history/texts/") || (path.endsWith(".md") && !path.startsWith("."))

/** Excludes the index, which follows manual edits at any time. */
const topicsIn = (all: ReadonlyMap<string, string>) =>
  new Map([...memoriesIn(all)].filter(([path]) => path !== "MEMORY.md").sort())
