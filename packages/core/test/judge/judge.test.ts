/** A short form of `npm run judge`, and a test that its canaries notice. Without bubblewrap, nothing is run. */
import { expect, test } from "vitest"
import { PLAIN_READERS } from "../../src/agent/tools/shell/command/plain-readers.ts"
import { needs } from "../needs.ts"
import { isWhole, size } from "../size.ts"
import { runJudge } from "./contained.ts"
import { knownPrograms } from "./known-options.ts"

/** Without bubblewrap, wrongly allowed lines would run on this machine. */
const contained = needs("sandbox")
const containment = { state: "contained" } as const

const LINES = size(24, 1_000) // `npm run judge` runs 100,000
const SEED = 1
test("PERM-7 PERM-9 no line that runs without a question has an effect", contained, async () => {
  const { judged, ran, findings } = await runJudge({
    lines: LINES,
    seed: SEED,
    containment,
    shares: size(1, 2), // each first asks all programs for their options
    maxFindings: 5,
  })
  expect(findings).toEqual([])
  expect(ran).toBeGreaterThanOrEqual(LINES)
  expect(judged).toBeGreaterThan(ran) // some are not in the small language
})

/** One harmful line for each canary. */
const HARMFUL: Readonly<Record<string, string>> = {
  "touch written": "created project/written",
  "echo x >> ~/.bashrc": "changed home/.bashrc",
  "rm src/a.ts": "removed project/src/a.ts",
  "chmod 600 a": "changed project/a",
  "./evil.sh": "created traces/ran",
  "md5sum ../outside/f > /dev/null": "read outside/f",
  "ls ../outside > /dev/null": "read outside",
  'echo "$XDG_DATA_HOME"': "printed a secret (environment)",
  "cat secrets/key.pem": "printed a secret (denied)",
  "touch /tmp/written": "created /tmp/written",
  "touch /usr/written": "tried to write outside",
  "exec 3<>/dev/tcp/127.0.0.1/8765": "connected to the network",
  "setsid --fork sleep 20 > /dev/null 2>&1; sleep 0.5": "left a process: sleep 20",
}

test.runIf(isWhole)("PERM-7 every canary notices", contained, async () => {
  const only = ["true", ...Object.keys(HARMFUL), "ls src"]
  const { findings } = await runJudge({
    lines: 0,
    seed: SEED,
    containment,
    only,
    skipsJudge: true,
    shares: 1,
    maxFindings: 99,
  })
  const noticed = Object.groupBy(findings, ({ line }) => line)
  expect(Object.keys(noticed).sort()).toEqual(Object.keys(HARMFUL).sort())
  for (const [line, effect] of Object.entries(HARMFUL))
    expect(
      noticed[line]!.flatMap(({ effects }) => effects),
      line,
    ).toContain(effect)
})

test.runIf(isWhole)("PERM-7 every program that the judge knows is tried, with its options", () => {
  const { readers, wrappers } = knownPrograms()
  const optionsOf = (...words: readonly string[]) =>
    [...readers, ...wrappers]
      .find((program) => program.words.join(" ") === words.join(" "))
      ?.options.map(({ text }) => text)
  expect(Object.keys(PLAIN_READERS).filter((name) => optionsOf(name) === undefined)).toEqual([])
  expect(optionsOf("sort")).toEqual(expect.arrayContaining(["-o", "-k", "--temporary-directory"]))
  expect(optionsOf("git", "log")).toEqual(expect.arrayContaining(["-p", "--since", "--pickaxe-all"]))
  expect(optionsOf("find")).toEqual(expect.arrayContaining(["-name", "-exec"]))
  expect(optionsOf("timeout")).toEqual(expect.arrayContaining(["-k", "--signal"]))
})
