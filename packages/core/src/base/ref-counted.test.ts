import { expect, test } from "vitest"
import { RefCounted, RefCountedPerObject } from "./work.ts"

function watched() {
  const log: string[] = []
  const open = (name: string) => () => {
    log.push(`open ${name}`)
    return { close: () => log.push(`close ${name}`), rest: () => log.push(`rest ${name}`) }
  }
  return { log, open }
}

test("BEY-12 what is shared is opened with the first user and closed with the last", () => {
  const { log, open } = watched()
  const shared = new RefCounted<{ close(): void }>()
  const [one, two] = [shared.use("a", open("a")), shared.use("a", open("a"))]
  expect(one.value).toBe(two.value)
  one.close()
  one.close() // closing twice counts once
  expect(log).toEqual(["open a"])
  two.close()
  expect(log).toEqual(["open a", "rest a", "close a"])
})

test("BEY-12 the last ones without a user stay open and rest, the others are closed", () => {
  const { log, open } = watched()
  const shared = new RefCounted<{ close(): void }>({ maxIdle: 2 })
  for (const name of ["a", "b", "a", "c"]) shared.use(name, open(name)).close()
  expect(log).toEqual(["open a", "rest a", "open b", "rest b", "rest a", "open c", "rest c", "close b"])
})

test("BEY-12 two objects share nothing", () => {
  const { open } = watched()
  const shared = new RefCountedPerObject<{ close(): void }>()
  const [mine, yours] = [{}, {}]
  const value = shared.of(mine).use("a", open("a")).value
  expect(shared.of(mine).use("a", open("a")).value).toBe(value)
  expect(shared.of(yours).use("a", open("a")).value).not.toBe(value)
})
