/** An endless list of tasks for the soak, in several languages. Some contain rules that must never be lost. */

const TASKS: readonly string[] = [
  "Explain how the journal and the views fit together and improve the remarks in both.",
  "Find every place where sizes are estimated and check the figures.",
  "Sieh dir die Importe an und räume dort auf.",
  "Look for functions with too many arguments and write down which.",
  "Lis les tests du simulateur et note ce qui manque.",
  "Compare the tools with one another and make their words alike.",
]
/** Rules. Each is added once, in this order, to every second task. */
export const RULES: readonly string[] = [
  "Never delete a file.",
  "Always keep a todo list.",
  "Bitte niemals etwas im Ordner node_modules ändern.",
  "From now on, write remarks in plain English.",
  "N'utilise jamais de tabulations.",
]
const TASKS_PER_RULE = 2
const SHORT_PAUSE_MINUTES = 2
const LONG_PAUSE_MINUTES = 90 // longer than any cache lifetime
const TASKS_PER_LONG_PAUSE = 8
const NIGHT_MINUTES = 25 * 60 // dreams are at least a day apart
const TASKS_PER_NIGHT = 6
const FIRST_NIGHT = 1 // so that the short form has a night too

export interface SoakTask {
  readonly text: string
  /** Minutes that the user was away before the task. */
  readonly pauseMinutes: number
  /** Whether a night with other conversations in the same project comes before the task. */
  readonly isNextDay: boolean
}

export function taskAt(index: number): SoakTask {
  const rule = index % TASKS_PER_RULE === 0 ? RULES[index / TASKS_PER_RULE] : undefined
  const text = `${TASKS[index % TASKS.length]} Round ${index + 1}.${rule === undefined ? "" : ` ${rule}`}`
  const isLong = index % TASKS_PER_LONG_PAUSE === TASKS_PER_LONG_PAUSE - 1
  const isNextDay = index % TASKS_PER_NIGHT === FIRST_NIGHT
  const pauseMinutes = isNextDay ? NIGHT_MINUTES : isLong ? LONG_PAUSE_MINUTES : SHORT_PAUSE_MINUTES
  return { text, isNextDay, pauseMinutes: index === 0 ? 0 : pauseMinutes }
}

const CONVERSATIONS_OF_A_NIGHT = 5 // the number that a dream waits for

/**
 * The first message of each other conversation during a night. The statement in the first one changes each night, so that older memories
 * are wrong then.
 */
export function nightMessages(night: number): readonly string[] {
  const address = `The review address is always https://review-${night}.example.`
  return Array.from({ length: CONVERSATIONS_OF_A_NIGHT }, (_, n) =>
    n === 0 ? `Look at the tests. ${address}` : `Look at package.json, part ${n} of night ${night}.`,
  )
}
