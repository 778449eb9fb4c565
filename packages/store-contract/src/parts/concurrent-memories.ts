/** Requirements of memory files that several processes change, watch or consolidate at once. */
import assert from "node:assert/strict"
import { MemoryChangedError } from "@strata/core"
import type { MemoryFiles } from "@strata/core/store"
import { eventually, letOthersRun } from "../assertions.ts"
import { type ContractClaim, PROJECT, upTo } from "../fixture.ts"

const NAMESPACE = { project: PROJECT }

/** Compare-and-set loop: reads, changes and writes until no other writer was faster. */
async function changed(
  files: MemoryFiles,
  path: string,
  change: (before: string | undefined) => string,
): Promise<void> {
  for (;;) {
    const before = await files.read(path)
    try {
      return void (await files.install([{ path, text: change(before), expected: before ?? null }]))
    } catch (error) {
      if (!(error instanceof MemoryChangedError)) throw error
      await letOthersRun()
    }
  }
}

export const concurrentMemories: readonly ContractClaim[] = [
  [
    "BEY-9 many writers change one memory file with `expected`: no update is lost",
    async (fixture) => {
      const turns = fixture.runs
      for (const path of ["sum.md", ".sum.json"]) {
        await Promise.all(
          fixture.handles.map(async (store, writer) => {
            for (const turn of upTo(turns))
              await changed(store.memories(NAMESPACE), path, (before = "") => `${before}${writer}.${turn} `)
          }),
        )
        const text = (await fixture.handle().memories(NAMESPACE).read(path)) ?? ""
        const all = upTo(fixture.writers).flatMap((writer) => upTo(turns).map((turn) => `${writer}.${turn}`))
        assert.deepEqual(text.trim().split(" ").toSorted(), all.toSorted(), `${path}: updates were lost`)
      }
    },
  ],
  [
    "BEY-9 many writers of different memory files at once: all are there",
    async (fixture) => {
      await Promise.all(
        fixture.handles.map(async (store, writer) => {
          for (const turn of upTo(fixture.runs))
            await store.memories(NAMESPACE).install([
              { path: `${writer}.md`, text: `turn ${turn}` },
              { path: `of-${writer}/${turn}.md`, text: `${writer} ${turn}`, expected: null },
            ])
        }),
      )
      const read = await fixture
        .handle()
        .memories(NAMESPACE)
        .readAll({ folders: [undefined] })
      const expected = upTo(fixture.writers).flatMap((writer) => [
        `${writer}.md: turn ${fixture.runs - 1}`,
        ...upTo(fixture.runs).map((turn) => `of-${writer}/${turn}.md: ${writer} ${turn}`),
      ])
      assert.deepEqual(read.map(({ path, text }) => `${path}: ${text}`).toSorted(), expected.toSorted())
    },
  ],
  [
    "BEY-12 a reading with a guard sees a change of several memory files whole, while others change them",
    async (fixture) => {
      const paths = ["head.md", "one.md", "deep/two.md"]
      const set = (files: MemoryFiles, text: string) => files.install(paths.map((path) => ({ path, text })))
      await set(fixture.handle().memories(NAMESPACE), "0")
      let isOver = false
      const writing = Promise.all(
        fixture.handles.slice(1).map(async (store, writer) => {
          for (const turn of upTo(fixture.runs)) await set(store.memories(NAMESPACE), `${writer}.${turn}`)
        }),
      ).finally(() => {
        isOver = true
      })
      const files = fixture.handles[0]!.memories(NAMESPACE)
      do {
        const read = await files.readAll({ folders: [undefined], guard: "head.md" })
        assert.deepEqual(read.map(({ path }) => path).toSorted(), paths.toSorted())
        assert.equal(new Set(read.map(({ text }) => text)).size, 1, read.map(({ text }) => text).join(" "))
        await letOthersRun()
      } while (!isOver)
      await writing
    },
  ],
  [
    "BEY-9 a change of several memory files is seen whole by those who change them, and no one is lost",
    async (fixture) => {
      const paths = ["one.md", "two.md", "deep/three.md"]
      const turns = Math.ceil(fixture.runs / 2)
      await Promise.all(
        fixture.handles.map(async (store) => {
          const files = store.memories(NAMESPACE)
          for (let done = 0; done < turns; ) {
            const [before] = await Promise.all([files.read(paths[0]!)])
            const text = String(Number(before ?? 0) + 1)
            try {
              // all three must have the same text, or one of them was changed without the others
              await files.install(paths.map((path) => ({ path, text, expected: before ?? null })))
              done++
            } catch (error) {
              if (!(error instanceof MemoryChangedError)) throw error
              await letOthersRun()
            }
          }
        }),
      )
      const texts = await Promise.all(paths.map((path) => fixture.handle().memories(NAMESPACE).read(path)))
      assert.deepEqual(texts, Array(3).fill(String(turns * fixture.writers)))
    },
  ],
  [
    "BEY-9 a reader next to a writer that has seen one file of a change sees the others changed too, and never goes back",
    async (fixture) => {
      const paths = ["one.md", "two.md", "three.md"]
      const [writer, last] = [fixture.handle().memories(NAMESPACE), 3 * fixture.runs]
      let acknowledged = 0
      const writing = (async () => {
        for (let turn = 1; turn <= last; turn++) {
          await writer.install(paths.map((path) => ({ path, text: String(turn) })))
          acknowledged = turn
          await letOthersRun()
        }
      })()
      const readings = fixture.handles.map(async (store, at) => {
        const files = store.memories(NAMESPACE)
        for (let [seen, next] = [0, at]; seen < last; next++) {
          const min = Math.max(seen, acknowledged)
          seen = Number((await files.read(paths[next % paths.length]!)) ?? 0)
          assert.ok(seen >= min, `${seen} is read after ${min} was seen or acknowledged: a change is half there`)
          await letOthersRun()
        }
      })
      await Promise.all([writing, ...readings])
    },
  ],
  [
    "BEY-9 a watch says that files may have changed once another has changed them",
    async (fixture) => {
      const [files, elsewhere] = [fixture.handle().memories(NAMESPACE), fixture.handle().memories(NAMESPACE)]
      await files.install([{ path: "a.md", text: "a" }])
      const watch = files.watch?.()
      if (!watch) return // optional for a store
      fixture.onCleanup(() => watch.close())
      assert.equal(await watch.isUnchanged(), false, "nothing was followed yet")
      const follow = async () => {
        const paths = (await files.list()).map(({ path }) => path)
        await watch.follow(paths)
        await watch.follow(paths)
      }
      await follow()
      for (const change of [
        { path: "a.md", text: "b" },
        { path: "b.md", text: "b" },
        { path: "a.md", text: undefined },
      ]) {
        await elsewhere.install([change])
        await eventually("the watch notices a change", async () => !(await watch.isUnchanged()))
        await follow()
      }
    },
  ],
]
