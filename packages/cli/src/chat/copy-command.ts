/** `/copy`: the last answer on the clipboard. */
import { grouped } from "../display/numbers.ts"
import { visible } from "../display/visible.ts"
import { type Copied, copyText } from "./clipboard.ts"
import type { CommandTarget } from "./command-target.ts"

export async function copyAnswer(target: CommandTarget): Promise<void> {
  const answer = target.lastAnswer()
  if (answer === undefined) return target.notice("There is no answer to copy yet.")
  const text = visible(answer) // pasted into a terminal, nothing in it acts
  const { env } = target.place
  const copied = await copyText(text, {
    env,
    platform: process.platform,
    write: (sequence) => target.toTerminal(sequence),
  })
  target.notice(copiedSentence(text, copied))
}

export function copiedSentence(text: string, { byTerminal, program }: Copied): string {
  const size = `the last answer, ${grouped([...text].length)} characters`
  if (program !== undefined) return `Copied ${size} (${program}).`
  return byTerminal
    ? `Sent ${size}, to the terminal's clipboard. If it is not there, your terminal does not allow it (OSC 52).`
    : `Not copied: ${size}, is too long for the terminal, and there is no clipboard program. /export writes a file.`
}
