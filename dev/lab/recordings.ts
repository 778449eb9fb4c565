/** Recorded conversations for the experiments. They are stored next to the repository and are never copied into it. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Message } from "@strata/core"
import { ImportError } from "../../packages/core/src/base/errors.ts"
import { listActiveBranch } from "../../packages/transcripts/src/import/active-branch.ts"
import { importTranscript } from "../../packages/transcripts/src/import/import-file.ts"

export interface RecordedConversation {
  readonly name: string
  /** The program that recorded the conversation: "claude-code", "pi", … */
  readonly format: string
  /** Messages of the main path, without abandoned branches and sub-agents. */
  readonly messages: readonly Message[]
  readonly model: string
  /** The project's directory, if the recording names it. */
  readonly cwd?: string
}

export const TUNING_RECORDINGS = fileURLToPath(new URL("../../../shared/data/transcripts", import.meta.url))
export const HELD_OUT_RECORDINGS = fileURLToPath(new URL("../../../shared/data/more", import.meta.url))
export const SHORT_RECORDINGS = fileURLToPath(new URL("../../../shared/data/short", import.meta.url))
const RECORDINGS = [".jsonl", ".json", ".traj"]

/**
 * Conversations that name a model. Those without a model have no usage. `skipped` receives the files in formats that cannot be imported.
 */
export function recordedConversations(folder = TUNING_RECORDINGS, skipped: string[] = []): RecordedConversation[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => RECORDINGS.some((ending) => name.endsWith(ending)))
    .sort()
    .flatMap((name) => importedFrom(folder, name, skipped).map((found) => ({ name, found })))
    .flatMap(({ name, found: { format, messages, model, cwd } }) =>
      model
        ? [{ name, format, messages: listActiveBranch(messages), model, ...(cwd === undefined ? {} : { cwd }) }]
        : [],
    )
}

function importedFrom(folder: string, name: string, skipped: string[]): ReturnType<typeof importTranscript> {
  try {
    return importTranscript({ name, text: readFileSync(join(folder, name), "utf8") })
  } catch (error) {
    if (!(error instanceof ImportError)) throw error
    skipped.push(name)
    return []
  }
}
