/**
 * What Strata would have made of a recorded conversation. Both costs are modelled, by the same replay: the requests as they were recorded,
 * with their own compactions, and the same work with Strata's layers.
 */
import { readTranscripts, type Transcript } from "@strata/transcripts"
import { journalTranscript, listResponses, type NamedJournal } from "@strata/transcripts/inspect"
import { AS_RECORDED, replay, strata } from "@strata/transcripts/replay"

export type ReplayedFile =
  | ({ readonly kind: "replayed" } & ReplayMetrics)
  /** A price is unknown, or it is gone. */
  | { readonly kind: "cannot" }

export interface ReplayMetrics {
  /** Modelled dollars as recorded, with what its compactions cost. */
  readonly recorded: number
  readonly strata: number
  /** Recorded compactions, the names that answers used after them, and how many were in view, as recorded and with Strata. */
  readonly compactions: number
  readonly names: number
  readonly kept: number
  readonly strataKept: number
}

export interface ConversationToReplay {
  readonly path: string
  /** Its id in the file. */
  readonly name: string
  /** What the store has of it, if it is in a store: a worker has none. */
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

/** The replay charges Strata for its summaries, and leaves out the recorded ones. */
const sumCompactionCost = (transcript: Transcript): number =>
  listResponses(transcript)
    .filter(({ purpose, agent }) => purpose === "compaction" && agent === undefined)
    .reduce((all, { dollars = 0 }) => all + dollars, 0)
