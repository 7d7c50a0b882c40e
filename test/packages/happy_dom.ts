export { Window } from 'happy-dom'
