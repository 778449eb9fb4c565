/** What part of a cost is estimated, and why, in sentences for a person. */
import { counted, dollars } from "../../base/numbers.ts"
import type { Estimated } from "./ledger.ts"

export function estimatedSentences(estimated: Estimated | undefined): readonly string[] {
  if (!estimated) return []
  const { unrecorded = { requests: 0, dollars: 0 } } = estimated
  const cut = estimated.requests - unrecorded.requests
  return [
    ...(cut > 0
      ? [
          `${dollars(estimated.dollars - unrecorded.dollars)} of it is estimated: ${counted(cut, "answer")} did not arrive whole (stopped, cut or killed).`,
        ]
      : []),
    ...unrecordedSentence(unrecorded),
  ]
}

function unrecordedSentence({ requests, dollars: paid }: NonNullable<Estimated["unrecorded"]>): readonly string[] {
  if (requests === 0) return []
  const those = `${counted(requests, "compaction")} that the transcript does not record`
  return [paid > 0 ? `About ${dollars(paid)} of it is estimated, for ${those}.` : `The price of ${those} is unknown.`]
}
