/**
 * Analyzes command lines and runs the allowed ones, in this process and in its own test environment. Started by contained.ts, in a sandbox.
 * It writes one JSON line for each finding and one at the end.
 */
import { rmSync } from "node:fs"
import { Canaries, type Effects, type Output } from "./canaries.ts"
import { vocabularyOf } from "./grammar.ts"
import { knownPrograms } from "./known-options.ts"
import { randomFrom } from "./random.ts"
import { shrink } from "./shrink.ts"
import { environment, firstTrials, SYSTEM_PATH, type Trial, type TrialSource, trialOf } from "./trials.ts"
import { DENIED, isUnasked, runUnasked, type TrialSetting } from "./unasked.ts"
import { type BuiltWorld, buildWorld, type World, worldAt } from "./world.ts"

/** One share of a run, as requested by another process. */
export interface Share {
  readonly root: string
  readonly port: number
  readonly seed: number
  /** How many allowed lines the entire run has. This share takes every `of`-th generated line, starting at `part`. */
  readonly lines: number
  readonly part: number
  readonly of: number
  readonly maxFindings: number
  readonly isAlone: boolean
  /** Runs only these lines. */
  readonly only?: readonly string[]
  /** Runs every line, whatever the command analyzer decides, to check that the canaries notice. */
  readonly skipsJudge?: boolean
  /** Lines to skip while a known cause is unfixed: a pattern for `PATH=… line`. */
  readonly except?: string
}

export interface JudgeFinding {
  readonly number: number
  readonly line: string
  readonly shrunk?: string
  readonly effects: Effects
  readonly mode: string
  readonly directory: string
  readonly path: string
}

export interface Tally {
  readonly judged: number
  readonly ran: number
}

const BATCH = 64 // lines between two checks of the canaries
const AT_ONCE = 4 // of them; a line mostly waits for processes to start

interface TesterOptions {
  readonly world: BuiltWorld
  readonly canaries: Canaries
  readonly skipsJudge: boolean
  readonly except?: string | undefined
}

class Tester {
  readonly #world: BuiltWorld
  readonly #canaries: Canaries
  readonly #skipsJudge: boolean
  readonly #except: RegExp | undefined
  #judged = 0
  #ran = 0

  constructor({ world, canaries, skipsJudge, except }: TesterOptions) {
    this.#except = except === undefined ? undefined : new RegExp(except, "s")
    this.#world = world
    this.#canaries = canaries
    this.#skipsJudge = skipsJudge
  }

  get tally(): Tally {
    return { judged: this.#judged, ran: this.#ran }
  }

  /** Yields each line that has an effect. */
  async *findings(trials: Iterable<Trial>): AsyncGenerator<JudgeFinding> {
    let batch: Trial[] = []
    for (const trial of trials) {
      if (this.#except?.test(`PATH=${trial.setting.env.PATH} ${trial.line}`)) continue
      this.#judged++
      if (await this.#isAllowed(trial)) batch.push(trial)
      if (batch.length < BATCH) continue
      yield* this.#look(batch)
      batch = []
    }
    yield* this.#look(batch)
  }

  async *#look(batch: readonly Trial[]): AsyncGenerator<JudgeFinding> {
    this.#ran += batch.length
    if ((await this.#effectsOf(batch)).length === 0) return
    this.#world.restore(this.#canaries.touched)
    for (const trial of batch) {
      const effects = await this.#effectsOf([trial])
      if (effects.length === 0) continue
      this.#world.restore(this.#canaries.touched)
      const isListed = trial.number < 0 // already minimal
      const shrunk = isListed ? trial.line : await shrink(trial.line, (line) => this.#hasEffect({ ...trial, line }))
      yield findingOf(trial, effects, shrunk)
    }
  }

  async #isAllowed({ line, setting }: Trial): Promise<boolean> {
    return this.#skipsJudge || isUnasked(line, setting, this.#world)
  }

  async #hasEffect(trial: Trial): Promise<boolean> {
    if (!(await this.#isAllowed(trial))) return false
    const hasAny = (await this.#effectsOf([trial])).length > 0
    if (hasAny) this.#world.restore(this.#canaries.touched)
    return hasAny
  }

  async #effectsOf(batch: readonly Trial[]): Promise<Effects> {
    if (batch.length === 0) return []
    this.#canaries.arm()
    const waiting = [...batch]
    const outputs: Output[] = []
    const work = async () => {
      for (let trial = waiting.shift(); trial; trial = waiting.shift())
        outputs.push({ text: await runUnasked(trial.line, trial.setting), isDenied: trial.setting.deny.length > 0 })
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    return this.#canaries.effects(outputs)
  }
}

const findingOf = ({ number, line, setting }: Trial, effects: Effects, shrunk: string): JudgeFinding => ({
  number,
  line,
  ...(shrunk === line ? {} : { shrunk }),
  effects,
  mode: `${setting.mode}${setting.deny.length > 0 ? " with deny rules" : ""}`,
  directory: setting.directory,
  path: setting.env.PATH ?? "",
})

async function main(share: Share): Promise<void> {
  const { root, seed, maxFindings, isAlone, only } = share
  const say = (value: object) => process.stdout.write(`${JSON.stringify(value)}\n`)
  const known = knownPrograms()
  const canaries = new Canaries(worldAt({ root, port: share.port }), { isAlone })
  const port = await canaries.listen(share.port)
  const programs = [...new Set([...known.readers, ...known.wrappers].map(({ words }) => words[0]!))]
  const world = buildWorld({
    root,
    port,
    random: randomFrom(seed),
    programs: programs.filter((name) => /^[a-z]/.test(name)),
  })
  const source: TrialSource = { seed, world, vocabulary: vocabularyOf(world, known) }
  const first: TrialSetting = { mode: "ask", deny: [], directory: world.project, env: environment(world, SYSTEM_PATH) }
  await isUnasked("true", first, world) // the session finds the project directory
  await runUnasked("true", first) // starts the process that guards the others
  const tester = new Tester({ world, canaries, skipsJudge: share.skipsJudge ?? false, except: share.except })
  let found = 0
  for await (const finding of tester.findings(
    only === undefined
      ? trialsOf(share, source, () => tester.tally.ran)
      : only.flatMap((line) => settingsOf(line, world).slice(share.skipsJudge ? 1 : 0)),
  )) {
    say({ finding })
    if (++found >= maxFindings) break
  }
  say({ tally: tester.tally })
  rmSync(root, { recursive: true, force: true })
  process.exit(0)
}

function* trialsOf({ lines, part, of }: Share, source: TrialSource, ran: () => number): Generator<Trial> {
  for (const [i, trial] of firstTrials(source.world).entries()) if (i % of === part) yield trial
  const wanted = ran() + lines / of
  for (let number = part; ran() < wanted; number += of) yield trialOf(number, source)
}

/** One trial of a line for each set of rules. */
function settingsOf(line: string, world: World): readonly Trial[] {
  const shared = { directory: world.project, env: environment(world, SYSTEM_PATH) }
  const settings: readonly TrialSetting[] = [
    { ...shared, mode: "ask", deny: [] },
    { ...shared, mode: "plan", deny: DENIED },
  ]
  return settings.map((setting) => ({ number: -1, line, setting }))
}

await main(JSON.parse(process.argv[2]!) as Share)
