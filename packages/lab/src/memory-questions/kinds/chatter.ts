/** Talk without facts, put together from parts, so that most turns are about something else. */
type Parts = Readonly<Record<"open" | "who" | "did" | "what" | "when", readonly string[]>>

const parts = (lists: Record<keyof Parts, string>): Parts =>
  Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, list.split("; ")])) as unknown as Parts

export const EVERYDAY_TALK = parts({
  open: "Honestly,; Ha, you know,; By the way,; Anyway,; I have to laugh:; You won't believe it:; Well,; Oh,; Guess what,; Sorry, but",
  who: "my boss; our landlady; the man at the post office; my cousin; Aunt Rosa; the plumber; everyone at the gym; my flatmate; the twins next door; an old friend from school",
  did: "forgot about; complained about; wanted to talk about; sent me a photo of; spent an hour on; paid too much for; gave up on; asked again about; made a joke about; promised to fix",
  what: "the broken heating; that parking ticket; the school play; the train strike; a leaking tap; the lottery; the new phone; the choir rehearsal; the tax form; the wedding cake; the film we saw; a lost parcel; the noise upstairs; the election; the bus timetable",
  when: "this morning; all weekend; again; in the middle of dinner; before I had coffee; yesterday; the whole way home; for no reason; as always; on the phone",
})

export const PROJECT_TALK = parts({
  open: "Okay,; Looking at it now:; Hm,; One more thing:; As far as I can see,; Done, and; Before I forget,; Right,; For the record,; So",
  who: "the linter; the new contributor; the pipeline; the reviewer; the type checker; the cleanup branch; the last refactoring; the release script; the formatter; the bot",
  did: "complains about; touches; renamed; skips; moved; reformatted; warns about; rebuilt; forgot; duplicates",
  what: "an unused import; the changelog; three snapshots; the icons; a flaky assertion; the readme; the lock file; some comments; the translations; the old stubs; a helper in the tests; the typings; the examples; the licence header; a badge",
  when: "again; since the merge; on every push; in two places; for the third time; without saying so; in the second commit; on Windows only; as before; after the rebase",
})

export const REPLIES: readonly string[] = [
  ..."Ha, that's so you.; I know exactly what you mean.; No way!; I'm happy for you.; Let's talk soon.; Tell me more!; That must have been hard.; Good for you, really.; Makes sense.; Fair enough.; Let me think about it.; Could be worse.".split(
    "; ",
  ),
]

export function chatter({ open, who, did, what, when }: Parts, pick: <T>(list: readonly T[]) => T): string {
  return `${pick(open)} ${pick(who)} ${pick(did)} ${pick(what)} ${pick(when)}.`
}

/** Circumstances that people remember a fact by. A question may name one. */
export const DETAILS = {
  everyday: {
    chosen:
      "after the storm; with Grandma; during the heat wave; before the anniversary; because of the old camera; thanks to the raffle; on the ferry; after the marathon",
    "held-out":
      "after the flood; with Uncle Pietro; during the carnival; before the reunion; because of the snow; thanks to the flea market; on the night train; after the divorce",
  },
  project: {
    chosen:
      "after the outage; because of the audit; since the migration; before the demo; for the Berlin customer; after the load test; because of the memory leak; for the pilot",
    "held-out":
      "after the incident in spring; because of compliance; since the upgrade; before the launch; for the Oslo tenant; after the benchmark; because of the deadlock; for the trial",
  },
} as const
