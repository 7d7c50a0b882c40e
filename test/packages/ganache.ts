export { default as ganache } from 'ganache'
