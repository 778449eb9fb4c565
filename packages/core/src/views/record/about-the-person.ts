/** Whether a sentence says who the person is. What they do at the moment, try or feel says nothing about them. */

const ABOUT_THE_PERSON =
  /^(?:please )?(?:remember(?: that)?:? )?(?:i(?:'m| am) (?:an? |the |one of |new to |allergic|vegetarian|vegan|lactose|based in|from |responsible for|in charge of|on the |in the |\d+ years|colou?r-?blind|deaf|left-handed|fluent)|i (?:work (?:at|for|as|in|on|with)|live in|speak|know|was born|come from|have (?:an? )?(?:kids?|children|degree|background|dog|cat|son|daughter))|my (?:name|job|role|title|pronouns|native language|time ?zone|team|company|employer|background)(?:'s| is| are)|ich (?:bin (?!mir|nicht|gerade|dabei)|arbeite (?:bei|als|in)|heiße|wohne|komme aus|spreche)|mein name ist|je (?:suis (?!en train|d'accord|pas)|travaille|m'appelle|habite)|soy |me llamo|trabajo (?:en|como)|vivo en|меня зовут|я (?:работаю|живу)|我(?:是|叫|住在)|私は.*(?:です|働いて)|(?:저는|나는).*(?:입니다|이에요|일해))/iu

export const isAboutThePerson = (sentence: string): boolean =>
  ABOUT_THE_PERSON.test(sentence.replaceAll("’", "'").trim()) && !/[?？؟]\W*$/u.test(sentence)
