/** All corpora of the scorecard. Each is generated from seeds, identically in every run. */
import { CHANGED } from "./corpora/changed.ts"
import { CONSTRAINTS_CORPUS } from "./corpora/constraints.ts"
import { MIXED } from "./corpora/mixed.ts"
import { KINDS, PLANTED } from "./corpora/planted.ts"
import { TEMPLATES_CORPUS } from "./corpora/templates.ts"
import { GROWN, PLAIN, TYPED } from "./corpora/typed.ts"
import type { Corpus } from "./session.ts"

export const CORPORA: readonly Corpus[] = [
  ...[TYPED, PLAIN, GROWN, CHANGED],
  ...[CONSTRAINTS_CORPUS, TEMPLATES_CORPUS, MIXED, PLANTED, KINDS],
]
