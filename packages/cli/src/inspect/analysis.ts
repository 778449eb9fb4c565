/** All results of `strata inspect` about a conversation, as plain data. `--json` prints it. */

import { type LayerDecision, listLayerDecisions } from "@strata/page"
import { type Inspection, inspectTranscript, type Transcript } from "@strata/transcripts"
import type { Replay } from "@strata/transcripts/replay"

export interface Analysis extends Inspection {
  /** Decisions of Strata's layers. Empty for transcripts of other programs. */
  readonly decided: readonly LayerDecision[]
  /** Replay of layers 1 and 2, with `--layers`. */
  readonly layers?: Replay
}

export async function analyse(transcript: Transcript): Promise<Analysis> {
  const { savings, ...inspection } = await inspectTranscript(transcript)
  return { ...inspection, decided: listLayerDecisions(transcript.entries), savings }
}
