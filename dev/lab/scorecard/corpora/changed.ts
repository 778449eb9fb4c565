/**
 * Values whose change is phrased in other words than the original statement, and pairs of statements that only look alike and must both
 * stay. Modelled on the semantic corpora of jurayh/compaction-conformance-kit, with other sentences.
 */
import { randomFrom } from "../../memory-questions/random.ts"
import { remarks } from "../filler.ts"
import { assistant, type Corpus, type Fact, nothing, type PlainMessage, user } from "../session.ts"

const SEEDS = [11, 12, 13, 14]

export const CHANGED: Corpus = {
  name: "changed",
  about: "eight values that change in other words, six that only look alike",
  sessions: ({ isQuick }) => SEEDS.slice(0, isQuick ? 2 : undefined).map(changedSession),
}

interface Change extends Fact {
  readonly first: string
  readonly then: string
}

export function changedSession(seed: number) {
  const random = randomFrom(seed)
  const word = (list: string) => random.pick(list.split(" "))
  const number = (from: number, count: number) => from + random.below(count)
  const day = () =>
    `${1 + random.below(28)} ${word("January February March April June July August September October November")}`
  const [oldPort, newPort] = [number(3_000, 900), number(7_000, 900)]
  const [oldCap, newCap] = [`$${number(200, 300)}`, `$${number(600, 300)}`]
  const [oldDay, newDay] = [`${day()} 2028`, `${day()} 2029`]
  const people = random.shuffled([
    "Ines Okafor",
    "Tomas Lindqvist",
    "Rhea Banerjee",
    "Pavel Duarte",
    "Maeve Castellan",
    "Yuto Ferreira",
  ])
  const [oldName, newName] = [`KESTREL-${number(100, 400)}`, `PLOVER-${number(500, 400)}`]
  const [oldBranch, newBranch] = [`topic/ash-${number(10, 40)}`, `topic/elm-${number(50, 40)}`]
  const [oldCode, newCode] = [`quill-${number(10, 40)}`, `sable-${number(50, 40)}`]
  const change = (
    id: string,
    first: string,
    then: string,
    needs: readonly string[],
    stale: readonly string[],
  ): Change => ({
    ...{ id, kind: "changed value", first, then, needs, stale },
  })
  const changes: readonly Change[] = [
    change(
      "cap",
      `The budget for the migration is ${oldCap}.`,
      `Small correction: the migration may cost up to ${newCap} now.`,
      [newCap],
      [oldCap],
    ),
    change("date", `We launch on ${oldDay}.`, `The launch has moved to ${newDay}.`, [newDay], [oldDay]),
    change(
      "name",
      `Internally the effort is known as ${oldName}.`,
      `From today the effort is called ${newName}.`,
      [newName],
      [oldName],
    ),
    change("manager", "Use npm for all installs.", "Use pnpm instead of npm for all installs.", ["pnpm"], ["npm"]),
    change(
      "owner",
      `${people[0]} has the pager this week.`,
      `${people[1]} has taken over the pager.`,
      [people[1]!],
      [people[0]!],
    ),
    change(
      "branch",
      `We work on the branch ${oldBranch}.`,
      `I switched us to the branch ${newBranch}.`,
      [newBranch],
      [oldBranch],
    ),
    change(
      "port",
      `The gateway listens on port ${oldPort}.`,
      `The gateway's port is ${newPort} since this morning.`,
      [String(newPort)],
      [String(oldPort)],
    ),
    change(
      "code",
      `The access code is ${oldCode}; never print it.`,
      `The access code was rotated: it is ${newCode}, still never print it.`,
      [newCode],
      [oldCode],
    ),
  ]
  const pair = (id: string, sentence: string, ...needs: readonly string[]) => ({ id, kind: "alike", sentence, needs })
  const [regionA, regionB] = [`eu-north-${number(1, 4)}`, `us-east-${number(5, 4)}`]
  const [docsDay, freezeDay] = [`${day()} 2030`, `${day()} 2031`]
  const pairs = [
    pair("live-region", `The live system runs in ${regionA}.`, "live system", regionA),
    pair("backup-region", `The backup system runs in ${regionB}.`, "backup system", regionB),
    pair("docs-day", `The handbook is due on ${docsDay}.`, "handbook", docsDay),
    pair("freeze-day", `The code freeze is due on ${freezeDay}.`, "code freeze", freezeDay),
    pair("approver", `${people[2]} approves releases.`, people[2]!, "approves releases"),
    pair("reviewer", `${people[3]} reviews designs.`, people[3]!, "reviews designs"),
  ]
  let at = random.below(12)
  const around = (sentence: string): readonly PlainMessage[] => {
    at += 2
    return [...remarks(2, at), user(sentence), assistant("Noted.")]
  }
  const messages = [
    ...changes.flatMap(({ first }) => around(first)),
    ...pairs.flatMap(({ sentence }) => around(sentence)),
    ...changes.flatMap(({ then }) => around(then)),
    ...remarks(3, at + 2),
  ]
  const facts: readonly Fact[] = [
    ...changes.map(({ id, kind, needs, stale }) => ({ id, kind, needs, stale: stale! })),
    ...pairs.map(({ id, kind, needs }) => ({ id, kind, needs })),
  ]
  return { id: `changed-${seed}`, messages, facts, between: nothing }
}
