/** All claims of a summary, checked against the source. */
import { approvalClaims } from "./approvals.ts"
import type { Claim } from "./claim.ts"
import { partsOf } from "./claim.ts"
import { nameClaims } from "./names.ts"
import { numberClaims } from "./numbers.ts"
import { outcomeClaims, type Work } from "./outcomes.ts"
import { prohibitionClaims } from "./prohibitions.ts"
import { quoteClaims } from "./quotes.ts"
import type { Source } from "./source.ts"
import { tokensOf } from "./text.ts"
import { wordingClaims } from "./wording.ts"

export interface ToCheck {
  readonly summary: string
  readonly source: Source
  readonly work: Work
}

export function claimsIn({ summary, source, work }: ToCheck): readonly Claim[] {
  const parts = partsOf(summary)
  // a quoted line that is in the conversation claims nothing of its own
  const own = parts.filter(({ isQuoted, line }) => !isQuoted || !source.index.has(tokensOf(line.text)))
  return [
    ...quoteClaims(own, source),
    ...approvalClaims(own, source),
    ...prohibitionClaims(parts, source),
    ...outcomeClaims(own, work),
    ...wordingClaims(parts, source),
    ...nameClaims(parts, source),
    ...numberClaims(parts, source),
  ]
}
