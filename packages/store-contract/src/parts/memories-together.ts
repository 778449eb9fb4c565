/** What must be true of memory files that several change, watch or consolidate at once. */
import assert from "node:assert/strict"
import { MemoryChangedError } from "@strata/core"
import type { MemoryFiles } from "@strata/core/store"
import { eventually, others } from "../claims.ts"
import { type Claim, PROJECT, upTo } from "../ground.ts"

const PLACE = { project: PROJECT }

/** Reads, changes and writes again until no one was faster. */
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
      await others()
    }
  }
}

export const memoriesTogether: readonly Claim[] = [
  [
    "BEY-9 many writers change one memory file with `expected`: no update is lost",
    async (ground) => {
      const turns = ground.runs
      for (const path of ["sum.md", ".sum.json"]) {
        await Promise.all(
          ground.handles.map(async (store, writer) => {
            for (const turn of upTo(turns))
              await changed(store.memories(PLACE), path, (before = "") => `${before}${writer}.${turn} `)
          }),
        )
        const text = (await ground.handle().memories(PLACE).read(path)) ?? ""
        const all = upTo(ground.writers).flatMap((writer) => upTo(turns).map((turn) => `${writer}.${turn}`))
        assert.deepEqual(text.trim().split(" ").toSorted(), all.toSorted(), `${path}: updates were lost`)
      }
    },
  ],
  [
    "BEY-9 many writers of different memory files at once: all are there",
    async (ground) => {
      await Promise.all(
        ground.handles.map(async (store, writer) => {
          for (const turn of upTo(ground.runs))
            await store.memories(PLACE).install([
              { path: `${writer}.md`, text: `turn ${turn}` },
              { path: `of-${writer}/${turn}.md`, text: `${writer} ${turn}`, expected: null },
            ])
        }),
      )
      const read = await ground
        .handle()
        .memories(PLACE)
        .readAll({ folders: [undefined] })
      const expected = upTo(ground.writers).flatMap((writer) => [
        `${writer}.md: turn ${ground.runs - 1}`,
        ...upTo(ground.runs).map((turn) => `of-${writer}/${turn}.md: ${writer} ${turn}`),
      ])
      assert.deepEqual(read.map(({ path, text }) => `${path}: ${text}`).toSorted(), expected.toSorted())
    },
  ],
  [
    "BEY-12 a reading with a guard sees a change of several memory files whole, while others change them",
    async (ground) => {
      const paths = ["head.md", "one.md", "deep/two.md"]
      const set = (files: MemoryFiles, text: string) => files.install(paths.map((path) => ({ path, text })))
      await set(ground.handle().memories(PLACE), "0")
      let isOver = false
      const writing = Promise.all(
        ground.handles.slice(1).map(async (store, writer) => {
          for (const turn of upTo(ground.runs)) await set(store.memories(PLACE), `${writer}.${turn}`)
        }),
      ).finally(() => {
        isOver = true
      })
      const files = ground.handles[0]!.memories(PLACE)
      do {
        const read = await files.readAll({ folders: [undefined], guard: "head.md" })
        assert.deepEqual(read.map(({ path }) => path).toSorted(), paths.toSorted())
        assert.equal(new Set(read.map(({ text }) => text)).size, 1, read.map(({ text }) => text).join(" "))
        await others()
      } while (!isOver)
      await writing
    },
  ],
  [
    "BEY-9 a change of several memory files is seen whole by those who change them, and no one is lost",
    async (ground) => {
      const paths = ["one.md", "two.md", "deep/three.md"]
      const turns = Math.ceil(ground.runs / 2)
      await Promise.all(
        ground.handles.map(async (store) => {
          const files = store.memories(PLACE)
          for (let done = 0; done < turns; ) {
            const [before] = await Promise.all([files.read(paths[0]!)])
            const text = String(Number(before ?? 0) + 1)
            try {
              // all three must have the same text, or one of them was changed without the others
              await files.install(paths.map((path) => ({ path, text, expected: before ?? null })))
              done++
            } catch (error) {
              if (!(error instanceof MemoryChangedError)) throw error
              await others()
            }
          }
        }),
      )
      const texts = await Promise.all(paths.map((path) => ground.handle().memories(PLACE).read(path)))
      assert.deepEqual(texts, Array(3).fill(String(turns * ground.writers)))
    },
  ],
  [
    "BEY-9 a reader beside a writer that has seen one file of a change sees the others changed too, and never goes back",
    async (ground) => {
      const paths = ["one.md", "two.md", "three.md"]
      const [writer, last] = [ground.handle().memories(PLACE), 3 * ground.runs]
      let acknowledged = 0
      const writing = (async () => {
        for (let turn = 1; turn <= last; turn++) {
          await writer.install(paths.map((path) => ({ path, text: String(turn) })))
          acknowledged = turn
          await others()
        }
      })()
      const readings = ground.handles.map(async (store, at) => {
        const files = store.memories(PLACE)
        for (let [seen, next] = [0, at]; seen < last; next++) {
          const min = Math.max(seen, acknowledged)
          seen = Number((await files.read(paths[next % paths.length]!)) ?? 0)
          assert.ok(seen >= min, `${seen} is read after ${min} was seen or acknowledged: a change is half there`)
          await others()
        }
      })
      await Promise.all([writing, ...readings])
    },
  ],
  [
    "BEY-9 a watch says that files may have changed once another has changed them",
    async (ground) => {
      const [files, elsewhere] = [ground.handle().memories(PLACE), ground.handle().memories(PLACE)]
      await files.install([{ path: "a.md", text: "a" }])
      const watch = files.watch?.()
      if (!watch) return // a store may go without
      ground.finally(() => watch.close())
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
