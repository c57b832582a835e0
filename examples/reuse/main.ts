/** Two teams of a company, in the words of that company: nothing here speaks of clusters, mirrors or labels. */
import { App, Chart } from 'cdk8s';
import { Team } from './team.ts';

const app = new App();
const chart = new Chart(app, 'teams');

const shop = new Team(chart, 'shop', { contact: 'shop@example.com' });
shop.application('cart', { image: 'registry.example.com/cart:1.4.2', port: 8080 });
shop.application('checkout', { image: 'registry.example.com/checkout:2.0.1', port: 8080 });

const bank = new Team(chart, 'bank', { contact: 'bank@example.com' });
bank.application('ledger', { image: 'registry.example.com/ledger:3.1.0', port: 50051 });

app.synth();
