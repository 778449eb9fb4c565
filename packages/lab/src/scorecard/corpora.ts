/** All corpora of the scorecard. Each is made by our own code from seeds: the same in every run. */
import { CHANGED } from "./corpora/changed.ts"
import { KINDS, PLANTED } from "./corpora/planted.ts"
import { GROWN, PLAIN, TYPED } from "./corpora/typed.ts"
import type { Corpus } from "./session.ts"

export const CORPORA: readonly Corpus[] = [TYPED, PLAIN, GROWN, CHANGED, PLANTED, KINDS]
