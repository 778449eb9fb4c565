/** The tests of `test`, `[` and `[[`: which files they look at. */
import type { Field } from "./facts.ts"
import { filesOf, type Judged, type Place, readOnly, unclear } from "./judged.ts"

const FILE_TESTS = /^-[abcdefghkLpNrsStuwxOG]$/
const TEXT_TESTS = /^(?:-[nzo]|!|\(|\)|=|==|!=|<|>|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef|a|o))$/
const NUMERIC = /^-(?:eq|ne|lt|le|gt|ge)$/

/** What follows a file test is looked at. `-v` and `-R` evaluate their operand, and are not among the tests. */
export function test(args: readonly Field[], place: Place): Judged {
  const reads = args.flatMap((field, at) => {
    const before = args[at - 1]?.text
    const isOperand = before !== undefined && (FILE_TESTS.test(before) || /^-(?:nt|ot|ef)$/.test(before))
    const comesBefore = /^-(?:nt|ot|ef)$/.test(args[at + 1]?.text ?? "")
    return isOperand || comesBefore ? filesOf(field, place) : []
  })
  const operators = args.filter(({ text }) => text?.startsWith("-") && !/^-\d/.test(text))
  const isKnown = operators.every(({ text }) => FILE_TESTS.test(text!) || TEXT_TESTS.test(text!))
  // some shells calculate with what they compare as numbers, and that can run a command
  const areNumbers = args.every(
    ({ text }, at) =>
      !NUMERIC.test(text ?? "") || [args[at - 1], args[at + 1]].every((side) => /^-?\d+$/.test(side?.text ?? "0")),
  )
  return isKnown && areNumbers ? readOnly({ reads }) : unclear("has a test that can evaluate its operand")
}
