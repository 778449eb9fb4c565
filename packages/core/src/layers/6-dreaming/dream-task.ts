/**
 * The observable state of a dream: its phase, its status and its actions. The state is also stored next to the memory, so that another
 * process can show or end the dream.
 */
import { randomUUID } from "node:crypto"
import { type Clock, callAfter } from "../../base/clock.ts"
import { errorReason } from "../../base/errors.ts"
import { maskSecrets } from "../../base/secrets/find-secrets.ts"
import { SerialQueue } from "../../base/work.ts"
import type { MemoryFiles } from "../../journal/memory-files.ts"
import { DREAM_FILES, type DreamContext, readJson, removeStateFiles, writeStateFile } from "./state-files.ts"

const MAX_TURNS_KEPT = 30
const MAX_TEXT = 2_000 // characters of one turn that are stored
const STOP_CHECK_MS = { files: 500, elsewhere: 2_000 } // a poll crosses a network if there are no files

/** Phase of a dream: it reads before it writes. */
export type DreamPhase = "starting" | "updating"
/** Whether a dream is running, or how it ended. */
export type DreamStatus = "running" | "completed" | "failed" | "killed"

/** One answer of the model in a dream. */
export interface DreamTurn {
  readonly text: string
  /** One line for each call: the tool and its subject. */
  readonly calls: readonly string[]
}

/** The running dream, or the last one. */
export interface DreamState {
  readonly id: string
  readonly pid: number
  readonly startedAt: string
  /** `updating` from the first write on. */
  readonly phase: DreamPhase
  readonly status: DreamStatus
  readonly toolUses: number
  /** Memory files that the dream wrote in its copy. */
  readonly files: readonly string[]
  /** The last 30 answers. */
  readonly turns: readonly DreamTurn[]
  readonly endedAt?: string
  /** How the dream ended, as a sentence. */
  readonly message?: string
  /** Id of the change in the history of the memory. */
  readonly change?: string
  readonly dollars?: number
}

interface DreamTaskDependencies {
  readonly clock: Clock
  readonly notes: MemoryFiles
  /** Called after every step. */
  readonly onChange: (state: DreamState) => void
}

export class DreamTask {
  readonly #clock: Clock
  readonly #notes: MemoryFiles
  readonly #onChange: (state: DreamState) => void
  readonly #stopping = new AbortController()
  #state: DreamState
  readonly #saves = new SerialQueue()
  #cancelCheck: () => void = () => {}

  constructor({ clock, notes, onChange }: DreamTaskDependencies) {
    this.#clock = clock
    this.#notes = notes
    this.#onChange = onChange
    this.#state = {
      id: randomUUID(),
      pid: process.pid,
      startedAt: clock.now().toISOString(),
      phase: "starting",
      status: "running",
      toolUses: 0,
      files: [],
      turns: [],
    }
  }

  get state(): DreamState {
    return this.#state
  }

  /** Aborted when a user ends the dream, in this process or another. */
  get signal(): AbortSignal {
    return this.#stopping.signal
  }

  kill(): void {
    this.#stopping.abort()
  }

  async start(): Promise<void> {
    await removeStateFiles(this.#notes, [DREAM_FILES.stop])
    await this.#save()
    this.#onChange(this.#state)
    this.#checkForStop()
  }

  turn(turn: DreamTurn): void {
    const recorded = { text: maskSecrets(turn.text.slice(0, MAX_TEXT)), calls: turn.calls.map(maskSecrets) }
    this.#change({
      turns: [...this.#state.turns, recorded].slice(-MAX_TURNS_KEPT),
      toolUses: this.#state.toolUses + turn.calls.length,
    })
  }

  wrote(file: string): void {
    const files = this.#state.files.includes(file) ? this.#state.files : [...this.#state.files, file]
    this.#change({ phase: "updating", files })
  }

  async end(
    status: Exclude<DreamStatus, "running">,
    end: Pick<DreamState, "message" | "change" | "dollars">,
  ): Promise<void> {
    this.#cancelCheck()
    this.#change({ status, endedAt: this.#clock.now().toISOString(), ...end })
    await this.#saves.whenIdle()
  }

  #change(change: Partial<DreamState>): void {
    this.#state = { ...this.#state, ...change }
    void this.#saves.run(() => this.#save()) // a state that cannot be shown is no reason to stop
    this.#onChange(this.#state)
  }

  #save(): Promise<void> {
    return writeStateFile(this.#notes, DREAM_FILES.status, `${JSON.stringify(this.#state, undefined, 1)}\n`)
  }

  #checkForStop(): void {
    const pause = STOP_CHECK_MS[this.#notes.directory === undefined ? "elsewhere" : "files"]
    this.#cancelCheck = callAfter(this.#clock, pause, async () => {
      const stopId = await this.#notes.read(DREAM_FILES.stop).catch(() => undefined)
      if (stopId?.trim() === this.#state.id) this.kill()
      else if (this.#state.status === "running") this.#checkForStop()
    })
  }
}

/**
 * The dream of any process. A running dream holds the permit to consolidate. Without it, its process has died, and the dream counts as
 * killed.
 */
export async function readDreamState({ stateFiles, permit }: DreamContext): Promise<DreamState | undefined> {
  const state = await readJson<DreamState>(stateFiles, DREAM_FILES.status)
  if (state?.status !== "running" || (await permit.state()).taken > 0) return state
  return { ...state, status: "killed", message: PROCESS_ENDED }
}

const PROCESS_ENDED =
  "Its process ended early. Its change was installed completely or not at all: see strata memory history."

/** Whether there was a dream to end. */
export type DreamKillResult =
  | { readonly state: "asked"; readonly id: string }
  | { readonly state: "none"; readonly why: string }

/** Requests the end of the dream of any process. Its process continues. */
export async function killDream(ground: DreamContext): Promise<DreamKillResult> {
  const state = await readDreamState(ground)
  if (state?.status !== "running") return { state: "none", why: "No dream is running." }
  try {
    await writeStateFile(ground.stateFiles, DREAM_FILES.stop, state.id)
    return { state: "asked", id: state.id }
  } catch (error) {
    return { state: "none", why: `The dream could not be asked to end (${errorReason(error)}). It is still running.` }
  }
}
