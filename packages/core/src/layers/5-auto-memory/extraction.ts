/** What an extraction of memories works with and what it returns. The default asks a fork; another function may work without a model. */

import type { Memory } from "../../memory/memory.ts"
import type { ModelRequest } from "../../messages/request.ts"
import type { ModelResponse } from "../../model/model.ts"
import type { StreamLimits } from "../../model/stream-limits.ts"
import type { Word } from "../../views/record/words.ts"

/** Proposes memories. It changes nothing: what it proposes is checked and installed by the layer, in one step. */
export type ExtractMemories = (task: ExtractionTask) => Promise<Extraction>

export interface ExtractionTask {
  /** What the person said since the last extraction, the oldest first. */
  readonly words: readonly Word[]
  /** What they said in other conversations that no extraction looked at. */
  readonly earlier: readonly string[]
  /** Whether an earlier part of the conversation was looked at before. */
  readonly isContinued: boolean
  /** All memories there are, also those that were superseded. */
  readonly memories: readonly Memory[]
  readonly index: string
  /** The exact text of a memory file. */
  readonly textOf: (file: string) => Promise<string | undefined>
  /** Where the memories are: a directory, or another name of the place. */
  readonly location: string
  /** The directory with its links followed, if there is one. */
  readonly directory: string | undefined
  /** YYYY-MM-DD. */
  readonly today: string
  /** The request that the conversation would send now. */
  readonly request: ModelRequest
  readonly openCalls: readonly string[]
  readonly estimate: (text: string) => number
  /** Tokens that a prompt has room for. */
  readonly room: number
  /** The most requests to a model. */
  readonly maxTurns: number
  readonly patience?: StreamLimits
  readonly signal: AbortSignal
}

export interface Extraction {
  /** How it ended. `no-room`: the conversation is too long to be asked about. */
  readonly ended: "done" | "failed" | "aborted" | "no-room"
  /** Whole texts by file name. */
  readonly texts: ReadonlyMap<string, string>
  /** What each of those files held when the proposal was made; `null` if there was none. */
  readonly base: ReadonlyMap<string, string | null>
  /** Everything that was billed. */
  readonly responses: readonly ModelResponse[]
  /** What the person should know about it. */
  readonly problem?: unknown
}

/** YYYY-MM-DD. */
export const dayOf = (now: Date): string => now.toISOString().slice(0, "YYYY-MM-DD".length)

export const nothingFound = (ended: Extraction["ended"], rest: Partial<Extraction> = {}): Extraction => ({
  texts: new Map(),
  base: new Map(),
  responses: [],
  ...rest,
  ended,
})
