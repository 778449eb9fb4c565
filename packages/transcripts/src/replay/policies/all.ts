/** The policies by name, in the order they are shown. */

import type { Policy } from "../policy.ts"
import { claudeIdle, claudeStyle, fixed167 } from "./claude-style.ts"
import { clear3 } from "./clear-3.ts"
import { half30 } from "./half-30.ts"
import { hybrid } from "./hybrid.ts"
import { masking } from "./masking.ts"
import { none } from "./none.ts"
import { optimum } from "./optimum.ts"
import { prune40k } from "./prune-40k.ts"
import { strata } from "./strata.ts"
import { tail20k } from "./tail-20k.ts"
import { userWords } from "./user-words.ts"

export const ALL_POLICIES: readonly Policy[] = [
  ...[none, masking, hybrid, clear3, claudeStyle, fixed167, claudeIdle],
  ...[prune40k, tail20k, half30, userWords, strata, optimum],
]
