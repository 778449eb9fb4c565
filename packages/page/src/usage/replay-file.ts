/**
 * Replays a recorded conversation for the index. Both costs are modelled by the same replay: the requests as recorded, with their own
 * compactions, and the same work with Strata's layers.
 */
import { readTranscripts, type Transcript } from "@strata/transcripts"
import { journalTranscript, listResponses, type NamedJournal } from "@strata/transcripts/inspect"
import { AS_RECORDED, replay, strata } from "@strata/transcripts/replay"

export type ReplayedFile =
  | ({ readonly kind: "replayed" } & ReplayMetrics)
  /** A price is unknown, or the file was deleted. */
  | { readonly kind: "cannot" }

export interface ReplayMetrics {
  /** Modelled dollars as recorded, including compactions. */
  readonly recorded: number
  readonly strata: number
  /** Number of recorded compactions, of names that answers used after them, and of those in view, as recorded and with Strata. */
  readonly compactions: number
  readonly names: number
  readonly kept: number
  readonly strataKept: number
}

export interface ConversationToReplay {
  readonly path: string
  /** Id of the conversation in the file. */
  readonly name: string
  /** The journal's content, if it is in a store, because a worker has no connection. */
  readonly journal?: NamedJournal
}

export async function replayForIndex({ path, name, journal }: ConversationToReplay): Promise<ReplayedFile> {
  try {
    const read = journal ? [journalTranscript(journal)] : await readTranscripts(path)
    const transcript = read.find(({ id }) => id.startsWith(name))
    if (!transcript) return { kind: "cannot" }
    const { entries, model } = transcript
    const recording = model === undefined ? { entries } : { entries, model }
    const { reports } = await replay(recording, { policies: [AS_RECORDED, strata] })
    const [recorded, ours] = reports
    if (recorded?.totals.dollars === undefined || ours?.totals.dollars === undefined) return { kind: "cannot" }
    const { compactions, names, inView } = recorded.namesKept
    return {
      kind: "replayed",
      recorded: recorded.totals.dollars + sumCompactionCost(transcript),
      strata: ours.totals.dollars,
      ...{ compactions, names, kept: inView, strataKept: ours.namesKept.inView },
    }
  } catch {
    return { kind: "cannot" }
  }
}

/** Cost of the recorded compactions, which the replay does not include, while it charges Strata for its summaries. */
const sumCompactionCost = (transcript: Transcript): number =>
  listResponses(transcript)
    .filter(({ purpose, agent }) => purpose === "compaction" && agent === undefined)
    .reduce((all, { dollars = 0 }) => all + dollars, 0)
