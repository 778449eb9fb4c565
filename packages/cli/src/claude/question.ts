/** The one question about the settings that the person has for Claude Code. Their answer is kept in their own settings file. */

import type { ProjectSettings } from "@strata/core"
import type { ClaudeOffer } from "@strata/core/settings"
import { askForWord } from "../ask-for-word.ts"
import { escaped } from "../display/escaped.ts"
import type { Terminal } from "../display/terminal.ts"
import { wrapped } from "../display/text.ts"
import { columnsOf, partLines } from "../trust/page.ts"

const CHOICES = `
  use      use all of it, now and from now on
  ignore   use only the rules that deny or ask
  quit     leave

use, ignore or quit? `

const STYLE_LINES = 6 // an output style can fill several screens

export interface ClaudeQuestion {
  readonly reading: ProjectSettings
  readonly offer: ClaudeOffer
  readonly terminal: Terminal
}

export async function askAboutClaude({ reading, offer, terminal }: ClaudeQuestion): Promise<"answered" | "quit"> {
  terminal.print(`${offerLines(offer, terminal).join("\n")}\n`)
  const answer = await askForWord(CHOICES, ["use", "ignore", "quit"])
  if (answer === undefined || answer === "quit") {
    terminal.print("Nothing was started.\n")
    return "quit"
  }
  await reading.decideClaude(answer).catch((error: unknown) => {
    throw new Error(
      `Your answer could not be kept in your settings (${(error as NodeJS.ErrnoException).code ?? "failed"}). Nothing was started. Mend the file, or set STRATA_HOME to another directory.`,
      { cause: error },
    )
  })
  return "answered"
}

/** What was found, what counts already, and what has no counterpart. */
function offerLines(offer: ClaudeOffer, terminal: Terminal): readonly string[] {
  const { style } = terminal
  const columns = columnsOf(terminal)
  const rules = offer.restricting.length
  const always = rules === 0 ? [] : [`${rules} rules that deny or ask count in any case.`]
  return [
    style.bold("You have settings for Claude Code. Should Strata use them too?"),
    escaped(offer.directory),
    "",
    ...partLines(offer.parts, { style, values: false, columns, agentLines: STYLE_LINES }),
    "",
    ...[...always, ...(offer.unused === undefined ? [] : [offer.unused])].flatMap((line) => wrapped(line, columns)),
  ]
}
