/** The sentences on which the rules for preferences and facts were chosen. Their figures come from others. */
import type { Talk } from "./talk.ts"

export const TALK_CHOSEN: Talk = {
  preferences: {
    en: `
      I prefer trains to planes.
      I prefer notebooks with dotted paper.
      I'm setting up a garden, and ~I prefer native plants over exotic ones|, can you help me pick some?
      ~I prefer using a spreadsheet over budgeting apps|, how can I track rent in it?
      I'm trying to eat better, so ~I prefer recipes with few ingredients|, what can I cook tonight
      ~I prefer working in libraries rather than cafés|, can you make a weekly plan for this month?
      I'm kinda stressed about the move, but ~I prefer hiring local firms, you know, for better communication|, so can you list what to ask them?
      ~I prefer drafting by hand before I type|, do you think that slows me down?
      I'd rather read a book than watch a film.
      ~I'd rather have fewer meetings and more written updates|, could you draft a note to the team?
      I would rather not use social media.
      I'd rather take stairs than lifts.
      No tables please.
      no emojis, please
      Short replies please.
      Lists please, not prose.
      Simple words please.
      Please, no disclaimers.
      American spelling, please.
      Casual tone please.
      I like my tea strong.
      I don't like musicals.
      I hate phone calls.
      I can't stand loud restaurants.
      I love old maps.
      I dislike subscriptions.
      I'm not a fan of spicy food.
      I'm a fan of short chapters.
      I tend to favour small publishers.
      I usually go for window shades instead of curtains.
      I always pick the aisle seat.
      ~I prefer sqlite for small services|, can you show a schema with two tables?
      ~I prefer small commits with one change each|. Can you split the one below?
      ~I prefer detailed proofs with diagrams|, can you prove the theorem for the triangle above?
      When I cook for friends, I prefer one-pot meals.
      My preference is for gravel paths.
      My favourite composer is Fauré.
      My preferred shop is the one at the corner.
      I prefer mornings for creative work and afternoons for mail.
      I prefer combining drawings with short videos.
      I prefer to write in pencil, you know, so that I can rub things out.
    `,
    de: `
      Ich bevorzuge Gangplätze.
      ~Ich lese lieber auf Papier|, kannst du mir den Text dafür umformen?
      Ich mag keine Musicals.
      Keine Tabellen bitte.
      Kurze Sätze bitte.
      Mir ist Tee lieber als Kaffee.
    `,
    fr: `
      Je préfère le thé au café.
      ~Je préfère lire sur papier|, peux-tu adapter le texte ?
      Pas de tableaux, s'il te plaît.
      Des phrases courtes, s'il te plaît.
      Je n'aime pas les comédies musicales.
    `,
    es: `
      Prefiero el té al café.
      ~Prefiero leer en papel|, ¿puedes adaptar el texto?
      Sin tablas, por favor.
      Frases cortas, por favor.
      No me gustan los musicales.
    `,
    ru: `
      Я предпочитаю чай, а не кофе.
      Без таблиц, пожалуйста.
      Короткие фразы, пожалуйста.
      Я не люблю мюзиклы.
    `,
    zh: `
      我更喜欢喝茶。
      请不要用表格。
      我不喜欢音乐剧。
    `,
  },
  facts: {
    en: `
      I'm vegetarian.
      I'm diabetic.
      I'm a nurse.
      I'm 34 years old.
      I'm divorced.
      I'm Canadian.
      I'm Joan, a baker from Leeds.
      I am allergic to nuts.
      I'm the founder of a small school.
      I work at a hospital.
      I work as a translator.
      I live in Porto.
      I speak German and Polish.
      I was born in Quito.
      I grew up in a small town.
      I own a bookshop.
      I run a bakery with my sister.
      I teach history.
      I have three children.
      I have a degree in physics.
      I have asthma.
      I don't eat meat.
      I don't drink alcohol.
      I moved to Berlin in May.
      My name is Ana.
      My son is called Max.
      My native language is Danish.
      ~I'm a beekeeper in my free time|, can you help me with labels?
      ~I live in Lyon|, which tram goes to the airport?
      I've been a teacher for twelve years.
      My husband is a pilot.
      My daughter is Lea.
    `,
    de: `
      Ich bin Lehrer.
      Ich wohne in Bremen.
      Ich heiße Jonas.
      Ich habe eine Tochter.
    `,
    fr: `
      Je suis infirmière.
      J'habite à Lyon.
      Je m'appelle Zoé.
      J'ai une fille.
    `,
    es: `
      Soy médico.
      Vivo en Bilbao.
      Me llamo Nuria.
      Tengo una hija.
    `,
    ru: `
      Я учитель.
      Я живу в Перми.
      Меня зовут Олег.
    `,
    zh: `
      我是老师。
      我住在上海。
      我叫王芳。
    `,
  },
  passing: {
    en: `
      I'm a bit worried about the deadline.
      I'm a little lost.
      I'm stuck.
      I'm a few steps away.
      I'm on page three.
      I'm in the settings now.
      I'm the first to try this version, I think.
      I'm so confused.
      I'm not a robot, why does it ask?
      I'm sorry for the mess.
      I'm back.
      I'm sure that the sign is wrong.
      I'm thinking about a new title.
      I'm using the second method.
      I'm a hundred lines in and it still fails.
      I know the sum is 180 degrees, but how do I prove it?
      I know I need to use the second endpoint, but I'm not sure how.
      I know what a variable is.
      I know it works on my machine.
      I have a bug in my parser.
      I have a draft that I want to shorten.
      I have two hours left.
      I work on the last chapter today.
      I was born to lose this game, it seems.
      I think it is fine.
      I need help with my essay.
      I'll check the platforms that you named.
      I'll choose a quiet spot and begin.
      I'd rather keep the first title.
      I'd rather go with the second option.
      I prefer the first one.
      I prefer that version.
      I prefer it.
      I prefer the tone of the third draft.
      Do you prefer tabs?
      I like the new title.
      I don't like the colour of the button.
      I love that idea.
      I hate it when the test hangs like this.
      One more example, please.
      The first, please.
      A summary of the chapter, please.
      Less text in the second box please.
      Now the French version please.
      My code is slow.
      My name is missing in the list.
      My boss prefers mornings.
      My son is late.
      My company is moving tomorrow.
      She is a doctor.
      Pretend I'm your teacher.
      I don't eat lunch today.
      I have a child component that does not render.
      I run the script and nothing happens.
      I own the file but cannot write it.
    `,
    de: `
      Ich bin etwas verloren.
      Ich bin gleich zurück.
      Ich weiß nicht weiter.
      Ich nehme lieber die erste Fassung.
      Noch ein Beispiel, bitte.
    `,
    fr: `
      Je suis un peu inquiet.
      Je suis prêt.
      Je sais que c'est faux.
      Une autre version, s'il te plaît.
    `,
    es: `
      Estoy bloqueado.
      Sé que está mal.
      Otra versión, por favor.
    `,
    ru: `
      Я запуталась.
      Я знаю, что это неверно.
      Ещё раз, пожалуйста.
    `,
    zh: `
      我是想问第三步。
      我知道这是错的。
    `,
  },
  places: `
    The runbook is at https://docs.acme.test/runbook.
    Our handbook lives at https://handbook.acme.test.
    Design files: https://design.acme.test/files
    The archive can be found at https://archive.acme.test.
    Das Handbuch liegt unter https://docs.acme.test/handbuch.
    Le guide est sur https://docs.acme.test/guide.
  `,
  pasted: [
    `Look at this:\n\`\`\`py\nurl = "https://api.birds.test/v1"\n\`\`\``,
    `const URL = "https://api.birds.test/v1"\nfetch(URL).then((r) => r.json())\nIt says undefined.`,
    `Error: connect ECONNREFUSED\n    at GET https://api.birds.test/v1/list (/srv/app.js:10:3)\nWhat now?`,
    `I tried https://birds.test/help but it is empty.`,
    `Can you read https://birds.test/news and tell me what is new?`,
    `I call https://api.birds.test/v1/list?key=abc and get 401.`,
    `<img src="https://birds.test/owl.png">\nHow do I make it round?`,
    `The request to http://localhost:8080/list hangs.`,
    `# see https://birds.test/docs\npip install birds\nI'm a bit lost, it does not install.`,
  ],
}
