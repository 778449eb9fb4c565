import { isSimulatedId } from "@strata/core/base"
import { expect, test } from "vitest"
import { createIdentity, idFrom } from "./identity.ts"

test("BEY-15 the ids of the simulator are as long as those of the API, and can be distinguished from them", () => {
  const id = createIdentity(1).next("msg")
  expect(id).toMatch(/^msg_01\w{22}$/)
  expect([id, idFrom("req", "x")].map(isSimulatedId)).toEqual([true, true])
  expect(["msg_01q3IvNwxxIaUhAu3uMahJRY", "SIMilar", "chatcmpl-SIM"].map(isSimulatedId)).toEqual([false, false, false])
})
