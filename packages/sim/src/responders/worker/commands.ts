/**
 * The commands that the worker runs. They only read, so they are harmless in any directory. Those meant to fail ask for a file or name that
 * does not exist.
 */

import { extensionOf, pickWord } from "./editing.ts"
import type { StepContext } from "./step.ts"

export interface Command {
  readonly command: string
  /** Completes the sentence "I want to …". */
  readonly purpose: string
}

const EVERYTHING = "find . -type f -not -path '*/.git/*' -not -path '*/node_modules/*'"
const SORT = "LC_ALL=C sort"

/** Lists files, each time a different part of a large directory. */
export function listCommand({ state, settings, random }: StepContext): Command {
  const count = Math.max(10, Math.round(settings.resultSize / 40))
  const stride = state.files.length < 20 ? 1 : random.between(1, 7)
  const part = stride === 1 ? "" : ` | awk 'NR % ${stride} == ${random.between(0, stride - 1)}'`
  return { command: `pwd && ${EVERYTHING} | ${SORT}${part} | head -n ${count}`, purpose: "see which files there are" }
}

export function pickCommand(context: StepContext): Command | undefined {
  const { state, settings, random } = context
  const [file, other = file] = random.draw(
    state.files.filter((path) => !state.missing.has(path)),
    2,
  )
  if (file === undefined) return listCommand(context)
  const word = pickWord(context)
  const kind = extensionOf(file)
  const size = settings.resultSize
  const start = random.between(1, 120)
  const paths = `${quoted(file)} ${quoted(other!)}`
  const commands: Command[] = [
    { command: `wc -l ${paths}`, purpose: "compare how long they are" },
    {
      command: `sed -n '${start},${start + Math.round(size / 40)}p' ${quoted(file)}`,
      purpose: `look at ${file} again`,
    },
    { command: `cat ${paths} | head -c ${size}`, purpose: `put ${file} and ${other} side by side` },
    {
      command: `git log --oneline -n ${random.between(5, 30)} -- ${quoted(file)}`,
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
      command: `${EVERYTHING} -name '*.${kind}' | ${SORT} | xargs wc -c | tail -n ${random.between(10, 60)}`,
      purpose: `know how large the ${kind} files are`,
    },
  ]
  return random.pick(isRepository(context) ? commands : commands.filter(({ command }) => !command.startsWith("git ")))
}

/** Assumed to be true until a command shows otherwise. */
export function isRepository({ state }: StepContext): boolean {
  return !state.calls.some(({ result }) => result?.failed && result.text.includes("not a git repository"))
}

export function pickFailingCommand(context: StepContext): Command | undefined {
  const { state, random } = context
  const file = random.pick(state.files)
  if (file === undefined) return undefined
  const lost = lostPath(context, file)
  return random.pick<Command>([
    { command: `cat ${quoted(lost)}`, purpose: `compare with ${lost}` },
    { command: `wc -l ${quoted(file)} ${quoted(lost)}`, purpose: "compare how long they are" },
    {
      command: `git rev-parse --verify before-${pickWord(context).toLowerCase()}`,
      purpose: "find the commit before it",
    },
    {
      command: `grep -n 'no-${pickWord(context)}-here' ${quoted(file)} || exit 3`,
      purpose: "make sure that it is handled",
    },
    { command: `sh -c 'cd ${lost} && ls'`, purpose: `see what is in ${lost}` },
  ])
}

/** A plausible path that does not exist. */
export function lostPath({ random }: StepContext, file: string): string {
  const suffix = random.pick(["old", "legacy", "next", "base", "shared", "internal"])
  return file.replace(/(\.\w+)$/, `-${suffix}-${random.between(2, 99)}$1`)
}

function quoted(word: string): string {
  return /^[\w@./+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
