/** Input of `replay` and `compare`: conversations from files of any supported format, or generated work. */
import { generatedWork, overrideModel, type RecordedConversation } from "@strata/transcripts/replay"
import { type CommandCall, UsageError } from "../command.ts"
import { formatNumber } from "../display/numbers.ts"
import { readEach, resolveFiles } from "../inspect/each-file.ts"

export interface LoadedRecording {
  readonly file: string
  readonly format: string
  readonly title?: string
  /** True if some lines were not understood. */
  readonly isPartial?: true
  /** Position among all recordings, for the progress line. Absent if there is only one. */
  readonly at?: { readonly done: number; readonly of: number }
  readonly conversation: RecordedConversation
}

export interface RecordingQuery {
  readonly command: string
  readonly files: readonly string[]
  /** Number of tokens of generated work. */
  readonly generate: number | undefined
  readonly model: string | undefined
  /** Called for an unreadable file if there are others. */
  readonly complain: (problem: string) => void
  /** Working directory and environment of the command. */
  readonly place: Pick<CommandCall, "cwd" | "env">
}

const GENERATED_MODEL = "claude-opus-5-5"

export async function* recordings({
  command,
  files,
  generate,
  model,
  complain,
  place,
}: RecordingQuery): AsyncGenerator<LoadedRecording> {
  if (files.length === 0 && generate === undefined)
    throw new UsageError(`strata ${command} needs FILE…, or --generate N. "strata ${command} --help" shows an example.`)
  if (generate !== undefined) {
    const conversation = generatedWork({ model: model ?? GENERATED_MODEL, tokens: generate })
    yield { file: `generated work, ${formatNumber(generate)} tokens`, format: "generated", conversation }
  }
  for await (const { transcript, at } of readEach(await resolveFiles(files, place), {
    complain,
    env: place.env,
  })) {
    const { file, format, title, entries, report } = transcript
    const isPartial = Object.keys(report.notUnderstood).length > 0
    const recorded = transcript.model === undefined ? { entries } : { entries, model: transcript.model }
    const conversation = model === undefined ? recorded : overrideModel(recorded, model)
    const about = { ...(title === undefined ? {} : { title }), ...(isPartial ? { isPartial } : {}) }
    yield { file, format, ...about, ...(at ? { at } : {}), conversation }
  }
}
