import { expect, test } from "vitest"
import { InputQueue } from "./queue.ts"

test("JRN-6 input that is removed without a name is the user's, also while a report of a task waits before it", () => {
  const queue = new InputQueue()
  const operation = (name: string, content?: string) =>
    queue.operation({ operation: name, ...(content === undefined ? {} : { content }) })
  operation("enqueue", "<task-notification>done</task-notification>")
  operation("enqueue", "/exit")
  operation("remove")
  operation("enqueue", "try again now")
  operation("remove")
  expect(queue.takeInserted()).toEqual(["/exit", "try again now"])
})
