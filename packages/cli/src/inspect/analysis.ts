/** Everything `strata inspect` reports about a conversation, as plain data. `--json` prints it. */

import { type LayerDecision, listLayerDecisions } from "@strata/page"
import { type Inspection, inspectTranscript, type Transcript } from "@strata/transcripts"
import type { Replay } from "@strata/transcripts/replay"

export interface Analysis extends Inspection {
  /** What Strata's layers decided. Empty for other programs' transcripts. */
  readonly decided: readonly LayerDecision[]
  /** What layers 1 and 2 would have done, with `--layers`. */
  readonly layers?: Replay
}

export async function analyse(transcript: Transcript): Promise<Analysis> {
  const { savings, ...inspection } = await inspectTranscript(transcript)
  return { ...inspection, decided: listLayerDecisions(transcript.entries), savings }
}
