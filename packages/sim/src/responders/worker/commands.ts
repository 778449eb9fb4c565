/**
 * The commands the worker runs. They only read, so they are harmless in any directory. Those meant to fail ask for
 * something that does not exist.
 */

import { extensionOf, pickWord } from "./editing.ts"
import type { Hand } from "./step.ts"

export interface Command {
  readonly command: string
  /** Completes "I want to …". */
  readonly purpose: string
}

const EVERYTHING = "find . -type f -not -path '*/.git/*' -not -path '*/node_modules/*'"
const SORT = "LC_ALL=C sort"

/** Lists files: a different part of a large directory each time. */
export function listCommand({ situation, settings, dice }: Hand): Command {
  const count = Math.max(10, Math.round(settings.resultSize / 40))
  const stride = situation.files.length < 20 ? 1 : dice.between(1, 7)
  const part = stride === 1 ? "" : ` | awk 'NR % ${stride} == ${dice.between(0, stride - 1)}'`
  return { command: `pwd && ${EVERYTHING} | ${SORT}${part} | head -n ${count}`, purpose: "see which files there are" }
}

export function pickCommand(hand: Hand): Command | undefined {
  const { situation, settings, dice } = hand
  const [file, other = file] = dice.draw(
    situation.files.filter((path) => !situation.missing.has(path)),
    2,
  )
  if (file === undefined) return listCommand(hand)
  const word = pickWord(hand)
  const kind = extensionOf(file)
  const size = settings.resultSize
  const start = dice.between(1, 120)
  const paths = `${quoted(file)} ${quoted(other!)}`
  const commands: Command[] = [
    { command: `wc -l ${paths}`, purpose: "compare how long they are" },
    {
      command: `sed -n '${start},${start + Math.round(size / 40)}p' ${quoted(file)}`,
      purpose: `look at ${file} again`,
    },
    { command: `cat ${paths} | head -c ${size}`, purpose: `put ${file} and ${other} side by side` },
    {
      command: `git log --oneline -n ${dice.between(5, 30)} -- ${quoted(file)}`,
      purpose: `know how ${file} came about`,
    },
    { command: "git diff --stat", purpose: "see what has changed so far" },
    { command: `git diff -- ${quoted(file)} | head -c ${size}`, purpose: `see what has changed in ${file}` },
    { command: `grep -n -i ${quoted(word)} ${paths} | head -c ${size}`, purpose: `see where ${word} is used` },
    {
      command: `grep -rn --include='*.${kind}' --exclude-dir=node_modules ${quoted(word)} . | ${SORT} | head -c ${size}`,
      purpose: `find every ${word}`,
    },
    {
      command: `grep -o '[[:alpha:]_]\\{5,\\}' ${quoted(file)} | ${SORT} | uniq -c | ${SORT} -rn | head -n 40`,
      purpose: `know the words of ${file}`,
    },
    {
      command: `${EVERYTHING} -name '*.${kind}' | ${SORT} | xargs wc -c | tail -n ${dice.between(10, 60)}`,
      purpose: `know how large the ${kind} files are`,
    },
  ]
  return dice.pick(isRepository(hand) ? commands : commands.filter(({ command }) => !command.startsWith("git ")))
}

/** Assumed until a command shows something else. */
export function isRepository({ situation }: Hand): boolean {
  return !situation.calls.some(({ result }) => result?.failed && result.text.includes("not a git repository"))
}

export function pickFailingCommand(hand: Hand): Command | undefined {
  const { situation, dice } = hand
  const file = dice.pick(situation.files)
  if (file === undefined) return undefined
  const lost = lostPath(hand, file)
  return dice.pick<Command>([
    { command: `cat ${quoted(lost)}`, purpose: `compare with ${lost}` },
    { command: `wc -l ${quoted(file)} ${quoted(lost)}`, purpose: "compare how long they are" },
    { command: `git rev-parse --verify before-${pickWord(hand).toLowerCase()}`, purpose: "find the commit before it" },
    {
      command: `grep -n 'no-${pickWord(hand)}-here' ${quoted(file)} || exit 3`,
      purpose: "make sure that it is handled",
    },
    { command: `sh -c 'cd ${lost} && ls'`, purpose: `see what is in ${lost}` },
  ])
}

/** A path that looks right but does not exist. */
export function lostPath({ dice }: Hand, file: string): string {
  const suffix = dice.pick(["old", "legacy", "next", "base", "shared", "internal"])
  return file.replace(/(\.\w+)$/, `-${suffix}-${dice.between(2, 99)}$1`)
}

function quoted(word: string): string {
  return /^[\w@./+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
