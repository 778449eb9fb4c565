/** Random scripts for sed, awk and jq, built from fragments of which some have external effects. */
import { pieces } from "./fragments.ts"
import type { Random } from "./random.ts"

const SED_ADDRESSES = pieces("sed addresses")
const SED_PLAIN = pieces("sed plain")
const SED_ODD = pieces("sed odd")
const AWK_PLAIN = pieces("awk plain")
const AWK_ODD = pieces("awk odd")
const JQ_PLAIN = pieces("jq plain")
const JQ_ODD = pieces("jq odd")

const ODD = 0.3 // share of the fragments

export function sedScript(random: Random): string {
  const command = () => random.pick(random.chance(ODD) ? SED_ODD : SED_PLAIN)
  const parts = Array.from({ length: 1 + random.below(3) }, () => `${random.pick(SED_ADDRESSES)}${command()}`)
  return parts.join(random.pick([";", "\n", " ; ", "}", ""]))
}

export function awkProgram(random: Random): string {
  const piece = () => random.pick(random.chance(ODD) ? AWK_ODD : AWK_PLAIN)
  return Array.from({ length: 1 + random.below(2) }, piece).join(random.pick([";", "\n", " "]))
}

export function jqFilter(random: Random): string {
  const piece = () => random.pick(random.chance(ODD) ? JQ_ODD : JQ_PLAIN)
  return Array.from({ length: 1 + random.below(3) }, piece).join(random.pick(["|", " | ", ",", "\n|", "//"]))
}
