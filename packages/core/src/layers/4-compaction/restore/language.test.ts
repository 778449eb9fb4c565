import { describe, expect, test } from "vitest"
import { languageOf } from "./statements.ts"

describe("L4-29 the user's language", () => {
  test.each([
    ["English", "Fix the failing test in src/parser.ts, please."],
    ["German", "Bitte behebe den Fehler, der in src/parser.ts auftritt."],
    ["French", "Corrige le test qui échoue dans le fichier, s'il te plaît."],
    ["Spanish", "Arregla la prueba que falla en el archivo, por favor."],
    ["Portuguese", "Corrija o teste que não passa, por favor, e explique como."],
    ["Italian", "Correggi il test che non passa e spiega perché, per favore."],
    ["Dutch", "Kun je de test repareren die niet werkt?"],
    ["Polish", "Proszę napraw test, który nie działa, i powiedz co się stało."],
    ["Turkish", "Bu testi düzelt ve bir açıklama yaz lütfen."],
    ["Swedish", "Kan du laga testet som inte fungerar och förklara det?"],
    ["Russian", "Исправь тест, который не проходит, пожалуйста."],
    ["Ukrainian", "Виправ, будь ласка, тест, який не проходить, і поясни."],
    ["Chinese", "请修复src/parser.ts里失败的测试,用vitest跑一遍。"],
    ["Japanese", "src/parser.ts の失敗しているテストを直してください。"],
    ["Korean", "실패하는 테스트를 고쳐 주세요."],
    ["Arabic", "أصلح الاختبار الفاشل من فضلك."],
    ["Persian", "لطفاً تست‌های پروژه را اجرا کن و گزارش بده."],
    ["Hebrew", "תקן את הבדיקה שנכשלת בבקשה."],
    ["Greek", "Διόρθωσε το τεστ που αποτυγχάνει."],
    ["Hindi", "कृपया असफल टेस्ट को ठीक करो।"],
    ["Thai", "ช่วยแก้เทสต์ที่ล้มเหลวให้หน่อย"],
  ])("%s", (language, text) => {
    expect(languageOf([text])).toBe(language)
  })

  test.each([
    [[]],
    [["ok"]],
    [["npm run build"]],
    [["```\nthe code is not what you say\n```"]],
    [["https://example.com/the/and/is"]],
  ])("is unknown for %j", (texts) => {
    expect(languageOf(texts)).toBeUndefined()
  })

  test("most messages decide, of equally many the newest", () => {
    const [german, english] = ["Das ist nicht gut.", "This is not what you said."]
    expect(languageOf([german, english, german, "ok"])).toBe("German")
    expect(languageOf([german, english])).toBe("English")
    expect(languageOf([english, german])).toBe("German")
  })

  test("code and pasted output in a message do not outvote its words", () => {
    expect(
      languageOf(["Was bedeutet das?\n```\nthis is the output of the build and it is not what you expect\n```"]),
    ).toBe("German")
  })
})
