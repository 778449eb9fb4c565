/** All claims of a summary, checked against the source. */
import type { Steps } from "../../../base/in-slices.ts"
import { approvalClaims } from "./approvals.ts"
import { type Claim, partSteps } from "./claim.ts"
import { nameSteps } from "./names.ts"
import { numberClaims } from "./numbers.ts"
import { outcomeClaims, type Work } from "./outcomes.ts"
import { prohibitionSteps } from "./prohibitions.ts"
import { quoteClaims } from "./quotes.ts"
import type { Source } from "./source.ts"
import { tokensOf } from "./text.ts"
import { wordingSteps } from "./wording.ts"

export interface ToCheck {
  readonly summary: string
  readonly source: Source
  readonly work: Work
}

export function* claimSteps({ summary, source, work }: ToCheck): Steps<readonly Claim[]> {
  const parts = yield* partSteps(summary)
  // a quoted line that is in the conversation claims nothing of its own
  const own = parts.filter(({ isQuoted, line }) => !isQuoted || !source.index.has(tokensOf(line.text)))
  yield
  const claims: Claim[] = []
  const each = [() => quoteClaims(own, source), () => approvalClaims(own, source), () => outcomeClaims(own, work)]
  for (const find of each) {
    claims.push(...find())
    yield
  }
  claims.push(...(yield* prohibitionSteps(parts, source)))
  claims.push(...(yield* wordingSteps(parts, source)))
  claims.push(...(yield* nameSteps(parts, source)))
  for (const part of parts) {
    claims.push(...numberClaims(part, source))
    yield
  }
  return claims
}
