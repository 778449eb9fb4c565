/** The tests of `test`, `[` and `[[`: which files they look at. */
import type { Field } from "./fields.ts"
import { filesOf, type Judged, type Place, readOnly, unclear } from "./judged.ts"

const FILE_TESTS = /^-[abcdefghkLpNrsStuwxOG]$/
const TEXT_TESTS = /^(?:-[nzo]|!|\(|\)|=|==|!=|<|>|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef|a|o))$/

/** What follows a file test is looked at. `-v` evaluates its operand. */
export function test(args: readonly Field[], place: Place): Judged {
  if (args.some(({ text }) => text === "-v" || text === "-R")) return unclear("a test that evaluates its operand")
  const reads = args.flatMap((field, at) => {
    const before = args[at - 1]?.text
    const isOperand = before !== undefined && (FILE_TESTS.test(before) || /^-(?:nt|ot|ef)$/.test(before))
    const comesBefore = /^-(?:nt|ot|ef)$/.test(args[at + 1]?.text ?? "")
    return isOperand || comesBefore ? filesOf(field, place) : []
  })
  const isAsked = (at: number) => /^-[nz]$/.test(args[at - 1]?.text ?? "")
  const isClear = args.every(({ text, isPrintable }, at) => text !== undefined || isPrintable || isAsked(at))
  const operators = args.filter(({ text }) => text?.startsWith("-") && !/^-\d/.test(text))
  const isKnown = operators.every(({ text }) => FILE_TESTS.test(text!) || TEXT_TESTS.test(text!))
  return isClear && isKnown ? readOnly({ reads }) : unclear("a test with a value that is only known when it runs")
}
