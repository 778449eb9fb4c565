/** Whose is the remote? Asked once, at a terminal, with what would leave this machine. Nothing leaves before the answer. */
import type { RemoteTrust, SyncRemote } from "@strata/sync"
import { askForWord } from "../ask-for-word.ts"
import { UsageError } from "../command.ts"
import { counted } from "../display/numbers.ts"
import type { Terminal } from "../display/terminal.ts"
import { wrapped } from "../display/text.ts"
import { printable } from "../display/visible.ts"
import { namesOf } from "./page.ts"

export interface Leaving {
  readonly memories: readonly string[]
  readonly sessions: readonly string[]
}

interface Question {
  readonly remote: SyncRemote
  readonly leaving: Leaving
  readonly terminal: Terminal
}

const TEAM =
  "This is a remote of the project itself. Everyone who can read that repository will be able to read your memories, and everyone who can write to it can change what you get from there."
const MINE =
  "mine: only you can read and write it. What comes from there counts as yours, and what you forget or erase on one machine is forgotten or erased on the others."
const SHARED =
  "shared: others can read it too. What comes from there counts as a note of an agent, never as your word, and cannot change your rules."

/** Nothing: the person said no. */
export async function askWhose({ remote, leaving, terminal }: Question): Promise<RemoteTrust | undefined> {
  const columns = Math.min(terminal.columns, 110)
  const choices = remote.isProjects ? [TEAM] : [MINE, SHARED]
  const lines = [
    terminal.style.bold(`You have not synced with ${printable(remote.title)} before.`),
    ...leavingLines(leaving),
    "",
    ...choices.flatMap((text) => wrapped(text, columns)),
  ]
  terminal.print(`${lines.join("\n")}\n`)
  if (remote.isProjects) {
    const answer = await askForWord("\nSync with it all the same? Type shared, or no: ", ["shared", "no"])
    return answer === "shared" ? answer : undefined
  }
  const answer = await askForWord("\nWhose is it? Type mine, shared, or no to stop: ", ["mine", "shared", "no"])
  return answer === "no" ? undefined : answer
}

function leavingLines({ memories, sessions }: Leaving): readonly string[] {
  const lines = [
    ...(memories.length === 0 ? [] : [`${counted(memories.length, "memory", "memories")}: ${namesOf(memories)}`]),
    ...(sessions.length === 0
      ? []
      : [`${counted(sessions.length, "session")}, with everything said in them: ${namesOf(sessions)}`]),
  ]
  return lines.length === 0
    ? ["Nothing would leave this machine now."]
    : ["This would leave this machine:", ...lines.map((line) => `  ${line}`)]
}

export const mustBeAsked = ({ title, isProjects }: SyncRemote): UsageError =>
  new UsageError(
    `You have not synced with ${printable(title)} before, and there is no terminal to ask whose it is. Nothing was sent. ${
      isProjects
        ? "It is a remote of the project itself: everyone who can read that repository would read your memories. If you want that, add --shared."
        : "Add --mine if only you can read and write it, or --shared if others can."
    }`,
  )

export const notMine = ({ title }: SyncRemote): UsageError =>
  new UsageError(
    `${printable(title)} is a remote of the project itself: everyone who can read that repository would read your memories. Nothing was sent. If you want that, use --shared in place of --mine.`,
  )

/** A journal has the person's words in it: what others wrote must not pose as them. */
export const sessionsAreYours = ({ title }: SyncRemote): UsageError =>
  new UsageError(
    `Sessions are synced only with a remote that is yours alone, and others can reach ${printable(title)}. Nothing was changed. Leave out --sessions, or name another remote.`,
  )
