/** Random changes of memory files from several handles. After each, the store returns the same as a plain map. */
import assert from "node:assert/strict"
import { MemoryChangedError } from "@strata/core"
import type { MemoryFileChange, MemoryFiles } from "@strata/core/store"
import { failureOf } from "../assertions.ts"
import { type ContractClaim, type ContractFixture, PROJECT, upTo } from "../fixture.ts"

const STEPS = 25
const PATHS = ["a.md", "b.md", "sub/c.md", "sub/deep/d.md", ".state.json", ".history/e.json"]
const FOLDERS = [undefined, "sub", ".history", "nowhere"]

type Model = Map<string, string>

export const memoriesModel: readonly ContractClaim[] = [
  [
    "BEY-12 random changes of memory files: the store answers what a plain map answers",
    async (fixture) => {
      for (const run of upTo(fixture.runs)) await oneRun(fixture, `${PROJECT}-${run}`)
    },
  ],
]

async function oneRun(fixture: ContractFixture, project: string): Promise<void> {
  const { random, handles } = fixture
  const model: Model = new Map()
  const known = new Map<string, { readonly version: string; readonly text: string }>()
  for (const step of upTo(STEPS)) {
    const changes = changesFor(fixture, model, step)
    const isStale = changes.some(
      ({ path, expected }) => expected !== undefined && expected !== (model.get(path) ?? null),
    )
    const error = await failureOf(() => random.pick(handles).memories({ project }).install(changes))
    const what = `step ${step}: ${JSON.stringify(changes)} gave ${String(error)}`
    if (isStale) assert.ok(error instanceof MemoryChangedError, what)
    else assert.equal(error, undefined, what)
    if (!isStale)
      for (const { path, text } of changes) {
        if (text === undefined) model.delete(path)
        else model.set(path, text)
      }
    await compare(fixture, random.pick(handles).memories({ project }), { model, known })
  }
}

/** Changes of different files, each expecting the current text, another text, no file, or anything. */
function changesFor({ random }: ContractFixture, model: Model, step: number): readonly MemoryFileChange[] {
  const paths = new Set(upTo(1 + random.below(3)).map(() => random.pick(PATHS)))
  return [...paths].map((path) => {
    const text = random.chance(0.2) ? undefined : `text ${random.chance(0.2) ? "again" : step}`
    const now = model.get(path) ?? null
    const expected = random.pick([undefined, now, now, now, random.pick([null, "other"])])
    return { path, text, ...(expected === undefined ? {} : { expected }) }
  })
}

interface ModelComparison {
  readonly model: Model
  /** The last version and text read of each file. */
  readonly known: Map<string, { readonly version: string; readonly text: string }>
}

async function compare(
  { random }: ContractFixture,
  files: MemoryFiles,
  { model, known }: ModelComparison,
): Promise<void> {
  const folder = random.pick(FOLDERS)
  const isIn = (path: string) => (folder === undefined ? !/(?:^|\/)\./.test(path) : path.startsWith(`${folder}/`))
  const expected = [...model].filter(([path]) => isIn(path)).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const listed = await files.list(folder)
  const sizes = expected.map(([path, text]) => [path, Buffer.byteLength(text)])
  assert.deepEqual(
    listed.map(({ path, bytes }) => [path, bytes]),
    sizes,
    `list(${folder})`,
  )
  const path = random.pick(PATHS)
  assert.equal(await files.read(path), model.get(path), path)
  const versions = new Map([...known].map(([one, { version }]) => [one, version]))
  const read = await files.readAll({ folders: [folder], paths: PATHS, knownVersions: versions })
  assert.deepEqual(read.map((file) => file.path).toSorted(), [...model.keys()].toSorted(), "readAll")
  for (const file of read) {
    const text = file.text ?? known.get(file.path)?.text // omitted because the reader has it
    assert.equal(text, model.get(file.path), `readAll: ${file.path}`)
    if (random.chance(0.5)) known.set(file.path, { version: file.version, text: text! })
  }
}
